"""Proofs of intervals as people read them: each bound on a line, and one line where both have the same reason."""

from __future__ import annotations


def proof_lines(proof: str | None, name: str = "") -> list[str]:
    """Return a proof as one line for each bound, without the name of the cell that it is about.

    >>> proof_lines("a=1 ≥ 0: no value is negative; a=1 ≤ [total] − [a=2] = 9 − 3 = 6", "a=1")
    ['≥ 0: no value is negative', '≤ [total] − [a=2] = 9 − 3 = 6']
    >>> proof_lines("a=1 ≥ 0: rounded; a=1 ≤ 2: rounded", "a=1")
    ['0 to 2: rounded']
    >>> proof_lines("a=1 ≥ [total] − [a=2] = 9 − 3 = 6; a=1 ≤ [total] − [a=2] = 9 − 3 = 6", "a=1")
    ['= [total] − [a=2] = 9 − 3 = 6']
    """
    if not proof:
        return []
    lines: list[str] = []
    for piece in proof.split("; "):
        # What follows a bound after a semicolon explains it, unless it states another one.
        if lines and not any(sign in piece for sign in (" ≤ ", " ≥ ")):
            lines[-1] += f"; {piece}"
        else:
            lines.append(piece.removeprefix(f"{name} ") if name else piece)
    if len(lines) == 2 and lines[0].startswith("≥ ") and lines[1].startswith("≤ "):
        if lines[0][2:] == lines[1][2:]:
            return [f"= {lines[0][2:]}"]
        (low, why), (high, same) = (line[2:].partition(": ")[::2] for line in lines)
        if why and why == same:
            return [f"{low} to {high}: {why}"]
    return lines


def proof_text(proof: str, name: str) -> str:
    """Return a proof on one line, with the name of its cell once.

    >>> proof_text("a=1 ≥ 0: rounded; a=1 ≤ 2: rounded", "a=1")
    'a=1 is 0 to 2: rounded'
    >>> proof_text("a=1 ≥ 0: no value is negative; a=1 ≤ [total] − [a=2] = 9 − 3 = 6", "a=1")
    'a=1 ≥ 0: no value is negative; ≤ [total] − [a=2] = 9 − 3 = 6'
    """
    lines = proof_lines(proof, name)
    said = "; ".join(lines)
    if lines and lines[0][0] in "≤≥=":
        return f"{name} {said}"
    return f"{name} is {said}" if len(lines) == 1 and said[:1].isdigit() else f"{name}: {said}"
