"""Proofs of bounds: the combination of published figures from which a bound follows by arithmetic alone.

Any multiples of the equations, added up, give another true equation. Solved for the value in question, it reads
value = Σ g·other values; the known ranges of the others then bound it. Whether the multiples were found by a flow, a
linear program or by hand does not matter: a proof is checked by adding up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.core.clock import Clock
from discreet.feasible.bounds import Bounds
from discreet.feasible.proof.cases import (
    Cases,
    combine,
    conditions,
    evaluate,
    expand,
    fractions,
    holds,
    inwards,
    nonzero,
    split,
)
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED

TERMS, LISTED = 12, 6
"""How many figures of a sum, and how many cases, are written out: about two lines of text."""


@dataclass(frozen=True)
class Proof:
    """Why a value cannot be smaller (or larger) than its bound.

    ``terms`` are the multiples g of other positions that sum to the value, whatever table is true; ``bound`` is what
    their ranges leave, rounded inwards. Where no table of integers attains that, ``bound`` is further in, ``searched``
    is true, and the combination alone proves ``combined``, a wider bound. The rest is in ``cases``: a value is at most
    an integer or at least the next one, and in each case a combination of its own proves the bound; None where there
    would be too many of them.
    """

    position: int
    upper: bool
    bound: int
    combined: Fraction
    terms: tuple[tuple[int, Fraction], ...]
    multipliers: tuple[tuple[int, Fraction], ...]
    searched: bool = False
    cases: Cases | None = None

    def text(self, equations: Equations) -> str:
        """Return the proof as arithmetic on published figures."""
        name = equations.describe(self.position)
        value = equations.text(self.bound)
        sign = "≤" if self.upper else "≥"
        own = equations.upper[self.position] if self.upper else equations.lower[self.position]
        if self.terms == ((self.position, Fraction(1)),):
            kind = equations.kind(self.position)
            told = (self.position, self.upper) in equations.reasons
            if kind is not None and not kind.hidden and not told:
                where = equations.parts[int(equations.source[self.position])].name
                place = f" in {where}" if len(equations.parts) > 1 else ""
                return f"{name} {sign} {value}: published{place}, {kind.phrase}"
            if told:
                return f"{name} {sign} {value}: {equations.reasons[self.position, self.upper]()}"
            if int(own) == 0 and not self.upper:
                return f"{name} ≥ 0: no value is negative"
            return f"{name} {sign} {value}: known"
        shown: list[str] = []
        numbers: list[str] = []
        said: list[str] = []
        rest = 0
        for i, g in sorted(self.terms, key=lambda term: term[1] < 0):
            end = equations.upper[i] if (g > 0) == self.upper else equations.lower[i]
            if int(end) == 0 and equations.lower[i] != equations.upper[i]:
                rest += 1
                continue
            if int(end) == 0:
                continue
            if (i, (g > 0) == self.upper) in equations.reasons:
                said.append(f"{equations.describe(i)}: {equations.reasons[i, (g > 0) == self.upper]()}")
            shown.append(signed_term(g, f"[{equations.describe(i)}]", not shown))
            numbers.append(signed_term(g, equations.text(int(end)), not numbers))
        if len(shown) > TERMS:
            shown = [*shown[:TERMS], f" … ({len(shown) - TERMS} more)"]
            numbers = [*numbers[:TERMS], " …"]
        total = float(self.combined) if self.combined.denominator > 1 else int(self.combined)
        steps = list(dict.fromkeys(["".join(numbers) or "0", equations.text(total)]))
        others = "the other hidden value is" if rest == 1 else f"the {rest} other hidden values are"
        left = f"; {others} at least 0" if rest else ""
        line = f"{name} {sign} {' = '.join([''.join(shown) or '0', *steps])}{left}"
        if self.searched:
            line += f"; no table of integers reaches it, which leaves {value} ({self._why(equations)})"
        elif self.combined != self.bound:
            line += f"; integers leave {value}"
        return f"{line} ({'; '.join(said[:TERMS])})" if said else line

    def _why(self, equations: Equations) -> str:
        """Say why integers leave less than the combination does."""
        if self.cases is None:
            return "by search"
        listed = conditions(self.cases)
        if len(listed) > LISTED:
            return f"shown for each of {len(listed)} cases"
        return "in each case: " + ", or ".join(
            " and ".join(f"[{equations.describe(i)}] {sign} {equations.text(value)}" for i, sign, value in case)
            for case in listed
        )


def signed_term(g: Fraction, text: str, first: bool) -> str:
    """Return a term of a sum as it is printed: its sign, its coefficient unless that is 1, and its text."""
    sign = ("−" if g < 0 else "") if first else (" − " if g < 0 else " + ")
    return f"{sign}{'' if abs(g) == 1 else f'{abs(g)}·'}{text}"


def check(equations: Equations, proof: Proof) -> bool:
    """Check a proof by arithmetic alone: add up the equations, then the ranges.

    >>> from discreet.feasible.bounds import bounds
    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> shown = Figures.from_array([3, None, 9], {"size": ["small", "large", "Total"]})
    >>> found = bounds(equations_of(shown))
    >>> proof = prove(found, found.equations.find({"size": "large"}), upper=True)
    >>> check(found.equations, proof), proof.text(found.equations)
    (True, 'size=large ≤ [total] − [size=small] = 9 − 3 = 6')
    """
    terms = combine(equations, proof.position, dict(proof.multipliers))
    if tuple(sorted(terms.items())) != tuple(sorted(proof.terms)):
        return False
    value = evaluate(equations, terms, proof.upper)
    if value is None or value != proof.combined:
        return False
    if proof.searched:
        inside = proof.bound < value if proof.upper else proof.bound > value
        return inside and (
            proof.cases is None or holds(equations, proof.cases, proof.position, proof.upper, proof.bound)
        )
    return proof.bound == inwards(value, proof.upper)


def prove(found: Bounds, position: int, *, upper: bool, deadline: float | None = None) -> Proof | None:
    """Return a proof of a bound, None where the value has none, or none was found by a time by ``time.monotonic()``."""
    from discreet.feasible.group_program import GroupProgram

    equations, reduced = found.equations, found.reduction
    bound = int(found.upper[position] if upper else found.lower[position])
    if abs(bound) >= UNBOUNDED:
        return None
    own = int(equations.upper[position] if upper else equations.lower[position])
    if own == bound:
        return Proof(position, upper, bound, Fraction(own), ((position, Fraction(1)),), ())
    if position in dict(reduced.derived):
        return _complete(found, position, upper, bound, {})
    leader = int(reduced.leader[position])
    group = next(g for g in reduced.groups if leader in g.variables)
    k = int(np.flatnonzero(group.variables == leader)[0])
    for entry in np.flatnonzero(group.columns == k).tolist():
        # One equation that proves the bound is the shortest proof.
        e = int(np.searchsorted(group.starts, entry, side="right")) - 1
        once = {int(group.equations[e]): Fraction(1, int(group.signs[entry]))}
        simple = _complete(found, position, upper, bound, once)
        if simple is not None and not simple.searched:
            return simple
    model = GroupProgram(group)
    left = Clock(deadline).left
    if left == 0.0 or (model.extreme(k, upper, left) is None and left is not None):
        return None
    y = fractions(model.program.multipliers)
    proof = _complete(found, position, upper, bound, dict(zip(group.equations.tolist(), y, strict=True)))
    if proof is None or not proof.searched:
        return proof
    return replace(proof, cases=split(found, group, position, upper=upper, bound=bound, deadline=deadline))


def _complete(found: Bounds, position: int, upper: bool, bound: int, multipliers: dict[int, Fraction]) -> Proof | None:
    """Return the proof by multiples of the equations, with values that were put in traced to where they follow from."""
    equations = found.equations
    used, terms = expand(equations, found.reduction.derived, position, multipliers)
    value = evaluate(equations, terms, upper)
    if value is None:
        return None
    searched = inwards(value, upper) != bound
    return Proof(position, upper, bound, value, nonzero(terms), nonzero(used), searched=searched)
