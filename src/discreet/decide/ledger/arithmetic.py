"""The arithmetic behind a value: which published figures of which releases are added and subtracted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.core.text import grouped_text
from discreet.decide.ledger.check_result import Term
from discreet.decide.ledger.entry import PublishedTable
from discreet.feasible.bounds import Bounds
from discreet.feasible.proof.bound_proof import Proof as BoundProof
from discreet.feasible.proof.bound_proof import prove, signed_term

TERMS = 12
"""The most figures written out in a sum: about two lines of text."""
Proof = tuple[tuple[Term, ...], tuple[str, ...], str]
"""The figures that bound something, the titles of their releases, and the sum as a line of text."""


NO_PROOF: Proof = ((), (), "")


def shown(found: Bounds, i: int, sheets: Sequence[PublishedTable], deadline: float | None = None) -> Proof:
    """Return how the bounds of a position follow, as far as known by the deadline."""
    sides = [prove(found, i, upper=upper, deadline=deadline) for upper in (True, False)]
    exact = found.lower[i] == found.upper[i]
    one = exact and sides[0] is not None and not _leaves_open(found, sides[0])
    kept = [side for side in (sides[:1] if one else sides) if side is not None]
    terms: dict[Term, None] = {}
    lines = []
    for side in kept:
        mine, line = _written(found, side, sheets, bool(one))
        terms.update(dict.fromkeys(mine))
        lines.append(line)
    releases = dict.fromkeys(term.release for term in terms if term.release)
    return tuple(terms), tuple(releases), "; ".join(dict.fromkeys(lines))


def _leaves_open(found: Bounds, proof: BoundProof) -> bool:
    """Say whether a sum takes more than 0 of what is not known, for no reason that is told: it bounds one side only."""
    stated = found.equations
    for i, g in proof.terms:
        upper = (g > 0) == proof.upper
        told = i == proof.position or (i, upper) in stated.reasons
        if not told and stated.lower[i] != stated.upper[i] and (stated.upper if upper else stated.lower)[i] != 0:
            return True
    return False


def _written(found: Bounds, proof: BoundProof, sheets: Sequence[PublishedTable], exact: bool) -> tuple[list[Term], str]:
    equations = found.equations
    name = equations.describe(proof.position)
    value = equations.text(proof.bound)
    if proof.terms == ((proof.position, Fraction(1)),):
        if (told := equations.reasons.get((proof.position, proof.upper))) is not None:
            return [], f"{name} {'≤' if proof.upper else '≥'} {value}: {told()}"
        mine = _publications(found, proof.position, sheets)
        lines = ", ".join(f"{_grouped(term.value)} in «{term.release}»" for term in mine)
        relation = "=" if exact else "≤" if proof.upper else "≥"
        return mine, f"{name} {relation} {value}: published as {lines}" if mine else f"{name} ≥ 0: nothing is negative"
    terms: list[Term] = []
    parts: list[str] = []
    numbers: list[str] = []
    said: list[str] = []
    rest = 0
    for i, g in sorted(proof.terms, key=lambda term: term[1] < 0):
        end = int(equations.upper[i] if (g > 0) == proof.upper else equations.lower[i])
        if (told := equations.reasons.get((i, (g > 0) == proof.upper))) is not None:
            said.append(f"{equations.describe(i)}: {told()}")
        if end == 0:
            rest += int(equations.lower[i] != equations.upper[i])
            continue
        source = int(equations.source[i]) if i < equations.source.size else -1
        title = sheets[source].entry.title if source >= 0 else ""
        term = Term(str(g), equations.describe(i), equations.plain(end), title)
        terms.append(term)
        where = f" in «{title}»" if title else ""
        parts.append(signed_term(g, f"[{term.cell}{where}]", not parts))
        numbers.append(signed_term(g, equations.text(end), not numbers))
    if len(parts) > TERMS:
        parts, numbers = [*parts[:TERMS], f" … ({len(parts) - TERMS} more)"], [*numbers[:TERMS], " …"]
    steps = dict.fromkeys(["".join(numbers) or "0", value])
    relation = "=" if exact and not rest else "≤" if proof.upper else "≥"
    left = f"; the {rest} other hidden values are at least 0" if rest > 1 else ""
    left = "; the other hidden value is at least 0" if rest == 1 else left
    why = f" ({'; '.join([*said[:TERMS], *(['…'] if len(said) > TERMS else [])])})" if said else ""
    return terms, f"{name} {relation} {' = '.join([''.join(parts) or '0', *steps])}{left}{why}"


def _grouped(value: str) -> str:
    """Return what was published with separators between thousands.

    >>> _grouped("1200 to 16493")
    '1,200 to 16,493'
    """
    return " ".join(grouped_text(word) for word in value.split(" "))


def _publications(found: Bounds, i: int, sheets: Sequence[PublishedTable]) -> list[Term]:
    """Return every figure at a position, in whichever release."""
    equations = found.equations
    terms = []
    for sheet in sheets:
        part = sheet.figures
        for row in (equations.rows_of(part) == i).nonzero()[0].tolist():
            kind = part.kinds[int(part.kind[row])]
            if not kind.hidden:
                made = "" if kind.exact else f" ({kind.phrase})"
                terms.append(Term("1", equations.describe(i), f"{part.text(row)}{made}", sheet.entry.title))
    return terms
