"""Kinds of published figures: what a reader who knows how a figure was made knows about the true value behind it.

Each kind is one small class that states its range, its likelihood and its words.
"""

from discreet.table.kinds.exact_hidden import Added, Exact, Interval, Marked, Simulated, Unshown
from discreet.table.kinds.kind import KINDS, UNBOUNDED, Kind
from discreet.table.kinds.perturbed import Noise, Perturbed, Relative
from discreet.table.kinds.rounded import ROUNDINGS, Controlled, Conventional, Random, Small
from discreet.table.kinds.sampled_swapped import Sampled, Swapped

EXACT, SUPPRESSED, INTERVAL = Exact(), Marked(), Interval()

__all__ = [
    "EXACT",
    "INTERVAL",
    "KINDS",
    "ROUNDINGS",
    "SUPPRESSED",
    "UNBOUNDED",
    "Added",
    "Controlled",
    "Conventional",
    "Exact",
    "Interval",
    "Kind",
    "Marked",
    "Noise",
    "Perturbed",
    "Random",
    "Relative",
    "Sampled",
    "Simulated",
    "Small",
    "Swapped",
    "Unshown",
]
