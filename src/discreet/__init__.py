"""discreet measures what a statistical table gives away about the people and firms in it.

The short names below are the whole front door; what they need is imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet import datasets, models, protect, rules, studies, uniques, utility
    from discreet.auditing.audit import audit
    from discreet.auditing.limits import Limits
    from discreet.core.errors import (
        DataError,
        DiscreetError,
        InfeasibleError,
        LimitError,
        RequestError,
    )
    from discreet.decide.assess import assess
    from discreet.decide.compare import compare
    from discreet.decide.ledger import Ledger
    from discreet.decide.policy import Policy
    from discreet.decide.replay import replay
    from discreet.evaluate.audited_suppression import suppress
    from discreet.evaluate.expected import expected_risk
    from discreet.measures.estimate import estimate
    from discreet.measures.risk import risk
    from discreet.rules.sensitivity import sensitivity
    from discreet.table import Dimension, Release, Table
    from discreet.table.attacker import Attacker
    from discreet.table.contributions import Contributions, read_contributions
    from discreet.table.figures import Figures
    from discreet.table.hierarchy import Hierarchy
    from discreet.table.hierarchy_reader import read_hierarchy
    from discreet.table.kinds import Kind
    from discreet.table.records import count_records, read_records
    from discreet.table.release_reader import read_release
    from discreet.table.table_reader import read_table
    from discreet.table.tabulation import Tabulation
    from discreet.table.tabulation_reader import read_tabulation
    from discreet.tabulation.tabulate import tabulate
    from discreet.uniques.population_uniques import population_uniques
    from discreet.utility.loss import information_loss

__version__ = "0.1.0"

_HOME = {
    "DataError": "discreet.core.errors",
    "DiscreetError": "discreet.core.errors",
    "InfeasibleError": "discreet.core.errors",
    "LimitError": "discreet.core.errors",
    "RequestError": "discreet.core.errors",
    "Attacker": "discreet.table.attacker",
    "Contributions": "discreet.table.contributions",
    "read_contributions": "discreet.table.contributions",
    "Figures": "discreet.table.figures",
    "Kind": "discreet.table.kinds",
    "Limits": "discreet.auditing.limits",
    "audit": "discreet.auditing.audit",
    "read_release": "discreet.table.release_reader",
    "Dimension": "discreet.table",
    "Release": "discreet.table",
    "Table": "discreet.table",
    "Hierarchy": "discreet.table.hierarchy",
    "Tabulation": "discreet.table.tabulation",
    "count_records": "discreet.table.records",
    "read_records": "discreet.table.records",
    "read_hierarchy": "discreet.table.hierarchy_reader",
    "read_table": "discreet.table.table_reader",
    "read_tabulation": "discreet.table.tabulation_reader",
    "tabulate": "discreet.tabulation.tabulate",
    "sensitivity": "discreet.rules.sensitivity",
    "population_uniques": "discreet.uniques.population_uniques",
    "risk": "discreet.measures.risk",
    "estimate": "discreet.measures.estimate",
    "Policy": "discreet.decide.policy",
    "Ledger": "discreet.decide.ledger",
    "assess": "discreet.decide.assess",
    "compare": "discreet.decide.compare",
    "replay": "discreet.decide.replay",
    "expected_risk": "discreet.evaluate.expected",
    "suppress": "discreet.evaluate.audited_suppression",
    "information_loss": "discreet.utility.loss",
    "datasets": "",
    "models": "",
    "protect": "",
    "rules": "",
    "studies": "",
    "uniques": "",
    "utility": "",
}

__all__ = [
    "Attacker",
    "Contributions",
    "DataError",
    "Dimension",
    "DiscreetError",
    "Figures",
    "Hierarchy",
    "InfeasibleError",
    "Kind",
    "Ledger",
    "LimitError",
    "Limits",
    "Policy",
    "Release",
    "RequestError",
    "Table",
    "Tabulation",
    "assess",
    "audit",
    "compare",
    "count_records",
    "datasets",
    "estimate",
    "expected_risk",
    "information_loss",
    "models",
    "population_uniques",
    "protect",
    "read_contributions",
    "read_hierarchy",
    "read_records",
    "read_release",
    "read_table",
    "read_tabulation",
    "replay",
    "risk",
    "rules",
    "sensitivity",
    "studies",
    "suppress",
    "tabulate",
    "uniques",
    "utility",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    home = _HOME[name]
    value = getattr(import_module(home), name) if home else import_module(f"discreet.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
