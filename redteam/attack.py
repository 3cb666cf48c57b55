"""The attacks, and how often each is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from redteam.case import Bench, Case
from redteam.of_amounts import numbers_beside_amounts
from redteam.of_chains import chained
from redteam.of_corrections import corrected, corrected_twice
from redteam.of_counts import assessed, audited, proposed, suppressed
from redteam.of_files import written
from redteam.of_means import beside_sums, means_of_sums
from redteam.of_others import added_up, made_by_hand
from redteam.of_periods import run_again, run_again_amounts
from redteam.of_plans import planned, planned_amounts
from redteam.of_records import recorded
from redteam.of_several import drawn_again, in_two_ways, linked, released_before, sampled
from redteam.of_statistics import beside_counts, protected_with_statistics, with_statistics
from redteam.of_sums import magnitudes
from redteam.of_values import of_respondents

ATTACKS: tuple[tuple[Callable[[Bench], Iterator[Case]], int], ...] = (
    (audited, 8),
    (suppressed, 4),
    (assessed, 8),
    (proposed, 7),
    (magnitudes, 6),
    (linked, 2),
    (released_before, 2),
    (drawn_again, 2),
    (in_two_ways, 2),
    (sampled, 1),
    (written, 4),
    (chained, 2),
    (beside_counts, 5),
    (with_statistics, 1),
    (protected_with_statistics, 1),
    (of_respondents, 4),
    (beside_sums, 2),
    (means_of_sums, 1),
    (planned, 1),
    (planned_amounts, 1),
    (run_again, 1),
    (run_again_amounts, 1),
    (corrected, 2),
    (corrected_twice, 1),
    (numbers_beside_amounts, 2),
    (made_by_hand, 1),
    (added_up, 1),
    (recorded, 3),
)
"""The attacks, and how often each is made."""


def attack(bench: Bench, names: Sequence[str] = ()) -> list[Case]:
    """Make one attack, chosen at random, among some by name or among all."""
    chosen = [(one, often) for one, often in ATTACKS if not names or one.__name__ in names]
    made = bench.random.choices([one for one, _ in chosen], [often for _, often in chosen])[0]
    return list(made(bench))
