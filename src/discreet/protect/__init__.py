"""Protections: methods that turn an original table into a release.

Each method is one file: a frozen object of its parameters, which draws releases and knows its own law, and a
function of the same name that releases a table in one call. Suppression releases nothing on its own: its one door is
``discreet.suppress``, which has every pattern audited.
"""

from typing import Any

from discreet.core.registry import Registry
from discreet.protect.base import Method
from discreet.protect.bernoulli_sample import BernoulliSample, bernoulli_sample
from discreet.protect.cell_key import CellKey, KeyedTable, PTable, cell_key, design_ptable, read_ptable, record_keys
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
from discreet.protect.swapping import RecordSwapping, record_swapping, swap_records
from discreet.protect.table_swapping import TableSwapping, table_swapping
from discreet.protect.tabular_adjustment import TabularAdjustment, tabular_adjustment

METHODS: Registry[type[Method]] = Registry(
    "discreet.protections",
    "protection",
    {
        method.name: method
        for method in (
            Suppression,
            ConventionalRounding,
            RandomRounding,
            SemiControlledRounding,
            ControlledRounding,
            SmallCountRounding,
            HideAndRound,
            CellKey,
            Redesign,
            TabularAdjustment,
            RandomSample,
            StratifiedSample,
            BernoulliSample,
            RecordSwapping,
            TableSwapping,
            Simulation,
        )
    },
)
"""The methods by name; other packages add theirs through the entry points ``discreet.protections``."""

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
    told = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(
        f"{told}; call discreet.suppress, which has the pattern audited" if name == "suppress" else told
    )
