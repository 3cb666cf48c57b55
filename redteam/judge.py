"""The judge: holds what discreet claims against what a reader cannot rule out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

from redteam.claims import METHOD_LAWS, Interval, Sensitive, Verdict
from redteam.enumeration import Belief
from redteam.readers import METHOD
from redteam.worlds import Cells

NEAR = 1e-6
"""What arithmetic on floating-point numbers may differ by."""


@dataclass(frozen=True)
class Failure:
    """A claim that fails: ``unsafe`` if the reader knows more than is claimed, else merely wrong."""

    what: str
    unsafe: bool
    text: str


def refuted(what: str, text: str) -> Failure:
    """Return the failure of a claim of safety."""
    return Failure(what, True, text)


def wrong(what: str, text: str) -> Failure:
    """Return the failure of a claim that says too little is known of what is left."""
    return Failure(what, False, text)


def judge_interval(claim: Interval, belief: Belief, own: int = 0, others: int = 1) -> Iterator[Failure]:
    """Judge one figure of an audit: its interval, the number of its values, its bits, and whether it is determined.

    Args:
        claim: what is printed.
        belief: what the reader cannot rule out.
        own: what the reader put into the cells, where the claim is about what others did.
        others: how many others there are.
    """
    values = belief.about(claim.cells)
    least, most = belief.ends(claim.cells)
    rest = claim.subject == "largest other contributor"
    if rest:
        least, most = ceil(max(least - own, 0) / max(others, 1)), None if most is None else most - own
    where = f"{claim.who}, cells {claim.cells}: printed {claim.lower} to {claim.upper}, left {least} to {most}"
    low = -inf if claim.lower is None else claim.lower
    high = inf if claim.upper is None else claim.upper
    single = most is not None and least == most
    if single and (claim.safe or not claim.determined):
        yield refuted("cannot be worked out", where)
    elif low < least or high > (inf if most is None else most):
        yield refuted("interval", where)
    elif low > least or high < (inf if most is None else most):
        yield wrong("interval", where)
    elif rest or most is None:
        return
    elif claim.law == "interval" and claim.values is not None and len(values) != claim.values:
        fail = refuted if len(values) < claim.values else wrong
        yield fail("values", f"{where}: printed {claim.values:g} values, left {len(values)}")
    elif claim.law == "tables" and claim.bits is not None:
        yield from _bits(claim.bits, belief.bits(claim.cells), 3 * claim.error + NEAR, where, exact=True)


def judge_widest(claim: Interval, belief: Belief) -> Iterator[Failure]:
    """Judge an interval that is said to be the widest that is left: it holds everything that is possible."""
    least, most = belief.ends(claim.cells)
    where = f"cells {claim.cells}: printed {claim.lower} to {claim.upper}, left {least} to {most}"
    low = -inf if claim.lower is None else claim.lower
    high = inf if claim.upper is None else claim.upper
    if low > least or high < (inf if most is None else most) or (claim.determined and not belief.single(claim.cells)):
        yield wrong("interval", where)
    if claim.safe and belief.single(claim.cells):
        yield refuted("cannot be worked out", where)


def judge_figures(claims: Sequence[Interval], belief: Belief, slack: float) -> Iterator[Failure]:
    """Judge the bits alone, for a reader who knows the method, whose entropy may be wrong by a few."""
    for claim in claims:
        if claim.bits is not None and claim.law in METHOD_LAWS and not belief.open & set(claim.cells):
            where = f"{claim.who}, cells {claim.cells}"
            yield from _bits(claim.bits, belief.bits(claim.cells), 3 * claim.error + slack + NEAR, where, exact=False)


def _bits(printed: float, left: float, slack: float, where: str, *, exact: bool) -> Iterator[Failure]:
    text = f"{where}: printed {printed:.4f} bits, left {left:.4f}"
    if left < printed - slack:
        yield refuted("1/H", text)
    if exact and left > printed + slack:
        yield wrong("1/H", text)


def judge_sensitive(claim: Sensitive, verdict: Verdict, belief: Belief, truth: int) -> Iterator[Failure]:
    """Judge what a verdict that lets a release pass says of a sensitive cell, for a reader of the figures.

    Its interval may be that of a reader who knows more; it must hold the truth.
    """
    least, most = belief.ends(claim.cells)
    top = inf if most is None else most
    low = -inf if claim.lower is None else claim.lower
    high = inf if claim.upper is None else claim.upper
    told = f"cells {claim.cells}: printed {low} to {high}, left {least} to {top}"
    if belief.single(claim.cells):
        yield refuted("verdict: cannot be worked out", told)
    elif low < least or high > top:
        yield refuted("interval", told)
    elif not low <= truth <= high:
        yield wrong("interval", f"{told}; it is {truth}")
    if verdict.levels and _short(claim.reach, least, top):
        yield refuted("verdict: protection levels", f"{told}, must reach {claim.reach}")
    if verdict.width is not None and top - least < verdict.width - NEAR:
        yield refuted("verdict: width", f"{told}, must be {verdict.width:g} wide")


def judge_counted(claim: Sensitive, verdict: Verdict, belief: Belief, cell: int) -> Iterator[Failure]:
    """Judge what it says of a sensitive cell for somebody who knows that they are counted in a cell.

    That a sum with themselves in it is not 0 they know anyway, and that they are alone in it tells of nobody else.
    """
    least, most = belief.ends(claim.cells)
    where = f"cells {claim.cells}, to somebody in cell {cell}: left {least} to {most}"
    if belief.single(claim.cells) and (cell not in claim.cells or least > 1):
        yield refuted("verdict: cannot be worked out", where)
    narrow = verdict.width is not None and most is not None and most - least < verdict.width - NEAR
    if narrow and cell not in claim.cells:
        yield refuted("verdict: width", f"{where}, must be {verdict.width:g} wide")


def judge_weighed(claim: Sensitive, verdict: Verdict, belief: Belief, slack: float) -> Iterator[Failure]:
    """Judge what it says of a sensitive cell for a reader who knows the method, whose bits may be wrong by a few."""
    least, most = belief.ends(claim.cells)
    where = f"cells {claim.cells}: left {least} to {most}"
    if verdict.determined == METHOD and belief.single(claim.cells):
        yield refuted("verdict: cannot be worked out", where)
    if most is None:
        return
    if verdict.determined == METHOD and verdict.width is not None and most - least < verdict.width - NEAR:
        yield refuted("verdict: width", f"{where}, must be {verdict.width:g} wide")
    left = belief.bits(claim.cells)
    if claim.bits is not None:
        yield from _bits(claim.bits, left, slack + NEAR, where, exact=False)
    if verdict.dr is not None and left + slack + NEAR < 1 / verdict.dr:
        yield refuted("verdict: 1/H", f"{where}, {left:.4f} bits, and 1/H is to be at most {verdict.dr:g}")


def _short(reach: tuple[float | None, float | None], least: float, most: float) -> bool:
    low, high = reach
    return (low is not None and least > low + NEAR) or (high is not None and most < high - NEAR)


def judge_lines(lines: Iterable[Sequence[Cells]], belief: Belief, counts: Sequence[int], few: int) -> Iterator[Failure]:
    """Judge the claim that nobody can tell of a line that all its people, or all but a few, are in one part of it."""
    for parts in lines:
        people = sum(counts[cell] for part in parts for cell in part)
        for part in parts if people else ():
            rest = tuple(cell for other in parts if other != part for cell in other)
            if sum(counts[cell] for cell in rest) <= few < people:
                most = belief.ends(rest)[1]
                if most is not None and most <= few:
                    yield refuted("verdict: lines", f"all but {most} of {parts} are in {part}")


def judge_known(cells: Mapping[Cells, str], belief: Belief, what: str) -> Iterator[Failure]:
    """Judge the claim that none of some cells can be worked out."""
    for some, name in cells.items():
        if belief.single(some):
            yield refuted(what, f"{name}: it is {belief.ends(some)[0]}")
