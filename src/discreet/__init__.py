"""discreet measures what a statistical table gives away about the people and firms in it.

The short names below are the whole front door; what they need is imported when they are first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from discreet.core.version import VERSION

if TYPE_CHECKING:
    from discreet import datasets as datasets
    from discreet import models as models
    from discreet import plots as plots
    from discreet import protect as protect
    from discreet import report as report
    from discreet import rules as rules
    from discreet import studies as studies
    from discreet import uniques as uniques
    from discreet import utility as utility
    from discreet.auditing.audit import audit as audit
    from discreet.auditing.limits import Limits as Limits
    from discreet.core.errors import DataError as DataError
    from discreet.core.errors import DiscreetError as DiscreetError
    from discreet.core.errors import InfeasibleError as InfeasibleError
    from discreet.core.errors import LimitError as LimitError
    from discreet.core.errors import RequestError as RequestError
    from discreet.decide.assess import assess as assess
    from discreet.decide.compare import compare as compare
    from discreet.decide.geography import geography as geography
    from discreet.decide.ledger import Ledger as Ledger
    from discreet.decide.policy import Policy as Policy
    from discreet.decide.replay import replay as replay
    from discreet.evaluate.audited_suppression import suppress as suppress
    from discreet.evaluate.expected import expected_risk as expected_risk
    from discreet.measures.estimate import estimate as estimate
    from discreet.measures.risk import risk as risk
    from discreet.programme.plans import explain_plan as explain_plan
    from discreet.programme.plans import read_plan as read_plan
    from discreet.programme.plans import run_plan as run_plan
    from discreet.reading.published import read_release as read_release
    from discreet.rules.sensitivity import sensitivity as sensitivity
    from discreet.table import Dimension as Dimension
    from discreet.table import Release as Release
    from discreet.table import Table as Table
    from discreet.table.attacker import Attacker as Attacker
    from discreet.table.contributions import Contributions as Contributions
    from discreet.table.contributions import read_contributions as read_contributions
    from discreet.table.figures import Figures as Figures
    from discreet.table.hierarchy import Hierarchy as Hierarchy
    from discreet.table.hierarchy_reader import read_hierarchy as read_hierarchy
    from discreet.table.kinds import Kind as Kind
    from discreet.table.presentation import Presentation as Presentation
    from discreet.table.records import count_records as count_records
    from discreet.table.records import read_records as read_records
    from discreet.table.table_reader import read_table as read_table
    from discreet.table.table_reader import read_tabulation as read_tabulation
    from discreet.table.tabulation import Tabulation as Tabulation
    from discreet.tabulation.tabulate import tabulate as tabulate
    from discreet.uniques.population_uniques import population_uniques as population_uniques
    from discreet.utility.loss import information_loss as information_loss

__version__ = VERSION

_HOMES = {
    "discreet": ("datasets", "models", "plots", "protect", "report", "rules", "studies", "uniques", "utility"),
    "discreet.auditing.audit": ("audit",),
    "discreet.auditing.limits": ("Limits",),
    "discreet.core.errors": ("DataError", "DiscreetError", "InfeasibleError", "LimitError", "RequestError"),
    "discreet.decide.assess": ("assess",),
    "discreet.decide.compare": ("compare",),
    "discreet.decide.geography": ("geography",),
    "discreet.decide.ledger": ("Ledger",),
    "discreet.decide.policy": ("Policy",),
    "discreet.decide.replay": ("replay",),
    "discreet.evaluate.audited_suppression": ("suppress",),
    "discreet.evaluate.expected": ("expected_risk",),
    "discreet.measures.estimate": ("estimate",),
    "discreet.measures.risk": ("risk",),
    "discreet.programme.plans": ("explain_plan", "read_plan", "run_plan"),
    "discreet.rules.sensitivity": ("sensitivity",),
    "discreet.table": ("Dimension", "Release", "Table"),
    "discreet.table.attacker": ("Attacker",),
    "discreet.table.contributions": ("Contributions", "read_contributions"),
    "discreet.table.figures": ("Figures",),
    "discreet.table.hierarchy": ("Hierarchy",),
    "discreet.table.hierarchy_reader": ("read_hierarchy",),
    "discreet.table.kinds": ("Kind",),
    "discreet.table.presentation": ("Presentation",),
    "discreet.table.records": ("count_records", "read_records"),
    "discreet.reading.published": ("read_release",),
    "discreet.table.table_reader": ("read_table", "read_tabulation"),
    "discreet.table.tabulation": ("Tabulation",),
    "discreet.tabulation.tabulate": ("tabulate",),
    "discreet.uniques.population_uniques": ("population_uniques",),
    "discreet.utility.loss": ("information_loss",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        room = next((room for room in ("rules", "protect") if name in import_module(f"discreet.{room}").__all__), None)
        raise AttributeError(
            f"module 'discreet' has no attribute {name!r}" + (f"; it is discreet.{room}.{name}" if room else ""),
            name=name,
            obj=sys.modules[__name__],
        )
    home = _HOME[name]
    value = import_module(f"discreet.{name}") if home == "discreet" else getattr(import_module(home), name)
    globals()[name] = _readable(value)
    return value


def _readable(value: object) -> object:
    from discreet.core.signatures import make_readable, with_options

    make_readable()
    return with_options(value)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
