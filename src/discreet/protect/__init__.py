"""Protections: methods that turn an original table into a release.

Each method is one file: a frozen object of its parameters, which draws releases and knows its own law, and a
function of the same name that releases a table in one call. Suppression releases nothing on its own: its one door is
``discreet.suppress``, which has every pattern audited.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from discreet.core.registry import Registry

if TYPE_CHECKING:
    from discreet.protect.base import Method as Method
    from discreet.protect.bernoulli_sample import BernoulliSample as BernoulliSample
    from discreet.protect.bernoulli_sample import bernoulli_sample as bernoulli_sample
    from discreet.protect.cell_key import CellKey as CellKey
    from discreet.protect.cell_key import KeyedTable as KeyedTable
    from discreet.protect.cell_key import PTable as PTable
    from discreet.protect.cell_key import cell_key as cell_key
    from discreet.protect.cell_key import design_ptable as design_ptable
    from discreet.protect.cell_key import read_ptable as read_ptable
    from discreet.protect.cell_key import record_keys as record_keys
    from discreet.protect.controlled_rounding import ControlledRounding as ControlledRounding
    from discreet.protect.controlled_rounding import controlled_rounding as controlled_rounding
    from discreet.protect.conventional_rounding import ConventionalRounding as ConventionalRounding
    from discreet.protect.conventional_rounding import conventional_rounding as conventional_rounding
    from discreet.protect.hide_and_round import HideAndRound as HideAndRound
    from discreet.protect.hide_and_round import hide_and_round as hide_and_round
    from discreet.protect.random_rounding import RandomRounding as RandomRounding
    from discreet.protect.random_rounding import random_rounding as random_rounding
    from discreet.protect.random_sample import RandomSample as RandomSample
    from discreet.protect.random_sample import random_sample as random_sample
    from discreet.protect.redesign import Redesign as Redesign
    from discreet.protect.redesign import advise as advise
    from discreet.protect.redesign import redesign as redesign
    from discreet.protect.redesign import violations as violations
    from discreet.protect.semi_controlled_rounding import SemiControlledRounding as SemiControlledRounding
    from discreet.protect.semi_controlled_rounding import semi_controlled_rounding as semi_controlled_rounding
    from discreet.protect.simulation import Simulation as Simulation
    from discreet.protect.simulation import simulation as simulation
    from discreet.protect.small_count_rounding import SmallCountRounding as SmallCountRounding
    from discreet.protect.small_count_rounding import small_count_rounding as small_count_rounding
    from discreet.protect.stratified_sample import StratifiedSample as StratifiedSample
    from discreet.protect.stratified_sample import stratified_sample as stratified_sample
    from discreet.protect.suppression import Suppression as Suppression
    from discreet.protect.suppression import Wish as Wish
    from discreet.protect.swapping import RecordSwapping as RecordSwapping
    from discreet.protect.swapping import record_swapping as record_swapping
    from discreet.protect.swapping import swap_records as swap_records
    from discreet.protect.table_swapping import TableSwapping as TableSwapping
    from discreet.protect.table_swapping import table_swapping as table_swapping
    from discreet.protect.tabular_adjustment import TabularAdjustment as TabularAdjustment
    from discreet.protect.tabular_adjustment import tabular_adjustment as tabular_adjustment

METHODS: "Registry[type[Method]]" = Registry(
    "discreet.protections",
    "protection",
    {
        "suppress": "discreet.protect.suppression:Suppression",
        "conventional-rounding": "discreet.protect.conventional_rounding:ConventionalRounding",
        "random-rounding": "discreet.protect.random_rounding:RandomRounding",
        "semi-controlled-rounding": "discreet.protect.semi_controlled_rounding:SemiControlledRounding",
        "controlled-rounding": "discreet.protect.controlled_rounding:ControlledRounding",
        "small-count-rounding": "discreet.protect.small_count_rounding:SmallCountRounding",
        "hide-and-round": "discreet.protect.hide_and_round:HideAndRound",
        "cell-key": "discreet.protect.cell_key:CellKey",
        "redesign": "discreet.protect.redesign:Redesign",
        "tabular-adjustment": "discreet.protect.tabular_adjustment:TabularAdjustment",
        "random-sample": "discreet.protect.random_sample:RandomSample",
        "stratified-sample": "discreet.protect.stratified_sample:StratifiedSample",
        "bernoulli-sample": "discreet.protect.bernoulli_sample:BernoulliSample",
        "record-swapping": "discreet.protect.swapping:RecordSwapping",
        "table-swapping": "discreet.protect.table_swapping:TableSwapping",
        "simulation": "discreet.protect.simulation:Simulation",
    },
)
"""The methods by name; other packages add theirs through the entry points ``discreet.protections``."""

_HOMES = {
    "discreet.protect.bernoulli_sample": ("BernoulliSample", "bernoulli_sample"),
    "discreet.protect.cell_key": (
        "CellKey",
        "KeyedTable",
        "PTable",
        "cell_key",
        "design_ptable",
        "read_ptable",
        "record_keys",
    ),
    "discreet.protect.controlled_rounding": ("ControlledRounding", "controlled_rounding"),
    "discreet.protect.conventional_rounding": ("ConventionalRounding", "conventional_rounding"),
    "discreet.protect.hide_and_round": ("HideAndRound", "hide_and_round"),
    "discreet.protect.random_rounding": ("RandomRounding", "random_rounding"),
    "discreet.protect.random_sample": ("RandomSample", "random_sample"),
    "discreet.protect.redesign": ("Redesign", "advise", "redesign", "violations"),
    "discreet.protect.semi_controlled_rounding": ("SemiControlledRounding", "semi_controlled_rounding"),
    "discreet.protect.simulation": ("Simulation", "simulation"),
    "discreet.protect.small_count_rounding": ("SmallCountRounding", "small_count_rounding"),
    "discreet.protect.stratified_sample": ("StratifiedSample", "stratified_sample"),
    "discreet.protect.suppression": ("Suppression", "Wish"),
    "discreet.protect.swapping": ("RecordSwapping", "record_swapping", "swap_records"),
    "discreet.protect.table_swapping": ("TableSwapping", "table_swapping"),
    "discreet.protect.tabular_adjustment": ("TabularAdjustment", "tabular_adjustment"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "METHODS",
    "BernoulliSample",
    "CellKey",
    "ControlledRounding",
    "ConventionalRounding",
    "HideAndRound",
    "KeyedTable",
    "PTable",
    "RandomRounding",
    "RandomSample",
    "RecordSwapping",
    "Redesign",
    "SemiControlledRounding",
    "Simulation",
    "SmallCountRounding",
    "StratifiedSample",
    "Suppression",
    "TableSwapping",
    "TabularAdjustment",
    "Wish",
    "advise",
    "bernoulli_sample",
    "cell_key",
    "controlled_rounding",
    "conventional_rounding",
    "design_ptable",
    "hide_and_round",
    "random_rounding",
    "random_sample",
    "read_ptable",
    "record_keys",
    "record_swapping",
    "redesign",
    "semi_controlled_rounding",
    "simulation",
    "small_count_rounding",
    "stratified_sample",
    "swap_records",
    "table_swapping",
    "tabular_adjustment",
    "violations",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        globals()[name] = getattr(import_module(_HOME[name]), name)
        return globals()[name]
    told = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(
        f"{told}; call discreet.suppress, which has the pattern audited" if name == "suppress" else told
    )


class _Functions(ModuleType):
    """A package whose functions have the names of their modules, which importing these must not cover."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Functions
