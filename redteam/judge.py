"""The judge: holds what discreet claims against what a reader cannot rule out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

from redteam.beliefs import Belief
from redteam.claims import Interval, Sensitive
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
    elif claim.law != "interval" and claim.bits is not None:
        yield from _bits(claim.bits, belief.bits(claim.cells), 3 * claim.error + NEAR, where, exact=True)


def judge_figures(claims: Sequence[Interval], belief: Belief, slack: float) -> Iterator[Failure]:
    """Judge the bits alone, for a reader who knows the method, whose entropy may be wrong by a few."""
    for claim in claims:
        if claim.bits is not None and claim.law == "method":
            where = f"{claim.who}, cells {claim.cells}"
            yield from _bits(claim.bits, belief.bits(claim.cells), 3 * claim.error + slack + NEAR, where, exact=False)


def _bits(printed: float, left: float, slack: float, where: str, *, exact: bool) -> Iterator[Failure]:
    text = f"{where}: printed {printed:.4f} bits, left {left:.4f}"
    if left < printed - slack:
        yield refuted("1/H", text)
    if exact and left > printed + slack:
        yield wrong("1/H", text)


def judge_sensitive(
    claim: Sensitive,
    belief: Belief,
    *,
    knows_method: bool,
    slack: float = 0.0,
    levels: bool = False,
    width: float | None = None,
    dr: float | None = None,
) -> Iterator[Failure]:
    """Judge what an assessment that lets a release pass says of a sensitive cell.

    Args:
        claim: what is printed.
        belief: what the reader cannot rule out.
        knows_method: the reader is the one that bits and 1/H are about, and not the one of the interval.
        slack: by how many bits the entropy may be wrong.
        levels: the intervals are said to reach the protection levels.
        width: the least width that intervals are said to have.
        dr: the limit that 1/H is said to keep.
    """
    where = f"cells {claim.cells}"
    least, most = belief.ends(claim.cells)
    top = inf if most is None else most
    if belief.single(claim.cells):
        yield refuted("verdict: cannot be worked out", f"{where}: it is {least}")
    if knows_method:
        if most is None:
            return
        left = belief.bits(claim.cells)
        if claim.bits is not None:
            yield from _bits(claim.bits, left, slack + NEAR, where, exact=False)
        if dr is not None and left + slack + NEAR < 1 / dr:
            yield refuted("verdict: 1/H", f"{where}: {left:.4f} bits are left, and 1/H is to be at most {dr:g}")
        return
    low = -inf if claim.lower is None else claim.lower
    high = inf if claim.upper is None else claim.upper
    told = f"{where}: printed {low} to {high}, left {least} to {top}"
    if claim.state != "unfinished" and (low < least or high > top):
        yield refuted("interval", told)
    if claim.state != "unfinished" and (low > least or high < top):
        yield wrong("interval", told)
    if levels and _short(claim.reach, least, top):
        yield refuted("verdict: protection levels", f"{told}, must reach {claim.reach}")
    if width is not None and top - least < width - NEAR:
        yield refuted("verdict: width", f"{told}, must be {width:g} wide")


def _short(reach: tuple[float | None, float | None], least: float, most: float) -> bool:
    low, high = reach
    return (low is not None and least > low + NEAR) or (high is not None and most < high - NEAR)


def judge_known(cells: Mapping[Cells, str], belief: Belief, what: str) -> Iterator[Failure]:
    """Judge the claim that none of some cells can be worked out."""
    for some, name in cells.items():
        if belief.single(some):
            yield refuted(what, f"{name}: it is {belief.ends(some)[0]}")
