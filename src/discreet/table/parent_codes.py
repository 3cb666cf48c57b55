"""Which code of a hierarchy stands below which: from pairs, from nested columns, from indented text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discreet.core.errors import DataError, RequestError


def parents_from_pairs(pairs: Mapping[str, str] | Iterable[tuple[object, object]], total: str) -> dict[str, str]:
    """Return the parent of each code, in the order in which codes are named; see :meth:`Hierarchy.from_parents`."""
    listed = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
    parent_of: dict[str, str] = {}
    for child, parent in listed:
        above = total if parent is None or str(parent) == "" else str(parent)
        code = str(child)
        if code == total:
            raise DataError(f"the total {total!r} stands below {above!r}; the root of a hierarchy has no parent")
        if code in parent_of:
            if parent_of[code] == above:
                raise DataError(f"code {code!r} stands twice below {above!r}; list every code once")
            raise DataError(
                f"code {code!r} has two parents, {parent_of[code]!r} and {above!r}; a hierarchy is a tree: give "
                "each grouping a hierarchy of its own"
            )
        parent_of[code] = above
    for above in list(dict.fromkeys(parent_of.values())):
        if above != total and above not in parent_of:
            parent_of[above] = total
    _refuse_cycle(parent_of, total)
    named = dict.fromkeys(str(code) for child, parent in listed for code in (parent, child))
    return {code: parent_of[code] for code in named if code in parent_of}


def parents_from_columns(rows: Iterable[Sequence[object]], total: str) -> dict[str, str]:
    """Return the parent of each code of nested columns, the coarsest first; see :meth:`Hierarchy.from_columns`."""
    parent_of: dict[str, str] = {}
    for row in rows:
        above = total
        for value in row:
            code = "" if value is None else str(value)
            if code in ("", above):
                continue
            if code == total:
                raise DataError(
                    f"category {total!r} is also the code of the total; name the total otherwise (total=...)"
                )
            if parent_of.setdefault(code, above) != above:
                raise DataError(
                    f"code {code!r} has two parents, {parent_of[code]!r} and {above!r}; nested columns need codes "
                    "that lie in one parent only"
                )
            above = code
    _refuse_cycle(parent_of, total)
    return parent_of


def parents_from_hrc(text: str, lead: str, total: str, source: str) -> dict[str, str]:
    """Return the parent of each code of an indented ``.hrc`` text; see :meth:`Hierarchy.from_hrc`."""
    where = f"{source}: " if source else ""
    if len(lead) < 1:
        raise RequestError("the leading string of a hierarchy file is empty; it is a character such as @")
    branch: list[str] = [total]
    parent_of: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        body = line.rstrip()
        if not body:
            continue
        depth = 0
        while body.startswith(lead):
            body, depth = body[len(lead) :], depth + 1
        if not body.strip():
            raise DataError(f"{where}line {number} has {lead!r} but no code; give the code or drop the line")
        if depth >= len(branch):
            raise DataError(
                f"{where}line {number}: code {body!r} is on level {depth + 1}, but the line before it on level "
                f"{len(branch) - 1}; go down one level at a time"
            )
        if body == total or body in parent_of:
            raise DataError(f"{where}line {number}: code {body!r} stands twice; every code needs one place")
        parent_of[body] = branch[depth]
        branch[depth + 1 :] = [body]
    if not parent_of:
        raise DataError(f"{where}there are no codes in the hierarchy; list at least one")
    return parent_of


def _refuse_cycle(parent_of: Mapping[str, str], total: str) -> None:
    safe = {total}
    for start in parent_of:
        trail: dict[str, None] = {}
        code = start
        while code not in safe:
            if code in trail:
                loop = [*list(trail)[list(trail).index(code) :], code]
                shown = " → ".join(repr(part) for part in loop[:8])
                raise DataError(f"the hierarchy goes in a circle: {shown}; take one of these parents away")
            trail[code] = None
            code = parent_of[code]
        safe |= set(trail)
