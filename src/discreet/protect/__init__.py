"""Protections: methods that turn an original table into a release.

Each method is one file: a frozen object of its parameters, which draws releases and knows its own law, and a
function of the same name that releases a table in one call. Suppression releases nothing on its own: its only entry is
``discreet.suppress``, which has every pattern audited.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from discreet.core.registry import Registry

if TYPE_CHECKING:
    from discreet.protect.base import Method
    from discreet.protect.bernoulli_sample import BernoulliSample, bernoulli_sample
    from discreet.protect.cell_key import CellKey, KeyedTable, PTable, cell_key, design_ptable, read_ptable, record_keys
    from discreet.protect.chain import Chain, chain
    from discreet.protect.controlled_rounding import ControlledRounding, controlled_rounding
    from discreet.protect.conventional_rounding import ConventionalRounding, conventional_rounding
    from discreet.protect.hide_and_round import HideAndRound, hide_and_round
    from discreet.protect.random_rounding import RandomRounding, random_rounding
    from discreet.protect.random_sample import RandomSample, random_sample
    from discreet.protect.redesign import Redesign, advise, redesign, violations
    from discreet.protect.semi_controlled_rounding import SemiControlledRounding, semi_controlled_rounding
    from discreet.protect.simulation import Simulation, simulation
    from discreet.protect.small_count_rounding import SmallCountRounding, small_count_rounding
    from discreet.protect.stratified_sample import StratifiedSample, stratified_sample
    from discreet.protect.suppression import Suppression, Wish
    from discreet.protect.swapping.record_swapping import RecordSwapping, record_swapping
    from discreet.protect.swapping.swapped_records import swap_records
    from discreet.protect.table_swapping import TableSwapping, table_swapping
    from discreet.protect.tabular_adjustment import TabularAdjustment, tabular_adjustment

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
        "chain": "discreet.protect.chain:Chain",
    },
)
"""The methods by name; other packages add theirs through the entry points ``discreet.protections``."""

_HOMES = {
    "discreet.protect.bernoulli_sample": ("BernoulliSample", "bernoulli_sample"),
    "discreet.protect.cell_key.key_noise": ("CellKey", "cell_key"),
    "discreet.protect.cell_key.keys": ("KeyedTable", "record_keys"),
    "discreet.protect.cell_key.perturbation_table": ("PTable", "design_ptable"),
    "discreet.protect.cell_key.perturbation_table_reader": ("read_ptable",),
    "discreet.protect.chain": ("Chain", "chain"),
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
    "Chain",
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
    "chain",
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


def __getattr__(name: str) -> object:
    if name in _HOME:
        from discreet.core.signatures import make_readable, with_options

        globals()[name] = with_options(getattr(import_module(_HOME[name]), name))
        make_readable()
        return globals()[name]
    told = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(
        f"{told}; call discreet.suppress, which has the pattern audited" if name == "suppress" else told,
        name=name,
        obj=sys.modules[__name__],
    )


def __dir__() -> list[str]:
    return __all__


class _Functions(ModuleType):
    """A package whose functions share the names of their modules; importing a module must not hide its function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Functions
