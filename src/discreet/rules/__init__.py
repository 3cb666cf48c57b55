"""Sensitivity rules: which cells may not be published as they are, decided before any protection.

Each rule is one file and one entry of :data:`RULES`; other packages add theirs through the entry points
``discreet.rules``.
"""

from discreet.rules.cell_figures import CellFigures, cell_figures
from discreet.rules.dominance import Dominance
from discreet.rules.explain import Explanation, explain
from discreet.rules.group_disclosure import GroupDisclosure, group_disclosure
from discreet.rules.p_percent import PPercent
from discreet.rules.pq import PQ
from discreet.rules.rule import CustomRule, Finding, Rule
from discreet.rules.rule_texts import RULES
from discreet.rules.sensitivity import Sensitivity, sensitivity
from discreet.rules.threshold import Threshold

__all__ = [
    "PQ",
    "RULES",
    "CellFigures",
    "CustomRule",
    "Dominance",
    "Explanation",
    "Finding",
    "GroupDisclosure",
    "PPercent",
    "Rule",
    "Sensitivity",
    "Threshold",
    "cell_figures",
    "explain",
    "group_disclosure",
    "sensitivity",
]
