"""Attacks on sums of what firms put into cells: every firm reads what is published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import discreet as dc
from redteam import claims, originals, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.judge import Failure, judge_interval, judge_known, judge_sensitive
from redteam.originals import Firms
from redteam.published import Published, published
from redteam.readers import COALITION, OUTSIDER, RESPONDENT
from redteam.worlds import Cells, World


def magnitudes(bench: Bench) -> Iterator[Case]:
    """Sums of firms' amounts, suppressed or assessed; every firm reads what is published."""
    firms = originals.firms_in(bench.random)
    door = bench.random.choice(("suppress", "suppress", "assess", "compare", "adjust"))
    if door == "suppress":
        yield from _suppressed_sums(bench, firms)
    elif door == "adjust":
        yield from _adjusted_sums(bench, firms)
    else:
        yield from _assessed_sums(bench, firms, compared=door == "compare")


def _suppressed_sums(bench: Bench, firms: Firms) -> Iterator[Case]:
    insiders = bench.random.choice(("auto", "respondents", "singletons", "none"))
    rules: list[Any] = [dc.rules.Threshold(bench.random.choice((2, 3)))]
    if bench.random.random() < 0.5:
        rules.append(dc.rules.PPercent(10))
    cells = firms.tabulated()
    try:
        made = dc.suppress(cells, rules, insiders=insiders)
    except dc.DiscreetError:
        return
    world = firms.world
    known = published(made.release, world, least=1)
    secret = _sensitive_sums(cells, rules, world)
    about = (world, firms.rows, [rule.title for rule in rules], insiders)
    title = "suppress (magnitudes)"

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(readers.outsider(known, world), firms.sums)
        return 1, list(judge_known(secret, belief, "verdict: safe"))

    yield judged_case(title, OUTSIDER, "suppress", about, by_outsider)
    if insiders != "none":
        meant = firms.names
        if insiders == "singletons":
            meant = tuple(firm for firm in firms.names if firms.alone(firm))
        yield from by_firms(title, "suppress", firms, known, secret, about, meant)
    yield from audited_firms(bench, title, firms, made.release, known, about)


def by_firms(
    title: str,
    door: str,
    firms: Firms,
    known: Published,
    secret: dict[Cells, str],
    about: object,
    who: Sequence[str],
    reader: str = RESPONDENT,
) -> Iterator[Case]:
    """Judge a verdict that names respondents: no sensitive sum that is a secret to one of them may be exact."""

    def judged() -> tuple[int, list[Failure]]:
        found: list[Failure] = []
        for firm in who:
            belief = readers.insider(known, firms, firm)
            theirs = {cells: f"{firm}, {name}" for cells, name in secret.items() if _secret(firms, cells, (firm,))}
            found += judge_known(theirs, belief, "verdict: safe")
        return len(who), found

    yield judged_case(title, reader, door, about, judged)


def audited_firms(
    bench: Bench, title: str, firms: Firms, release: Any, known: Published, about: object
) -> Iterator[Case]:
    """Judge an audit with contributions: the intervals of every firm, and of a coalition."""
    pair = tuple(bench.random.sample(firms.names, 2)) if len(firms.names) > 2 else ()
    data = dc.audit(release, contributions=firms.contributions([pair] if pair else ()), workers=1, proofs=0).to_dict()
    rows = list(claims.intervals(data, firms.world))

    def judged(name: str, members: tuple[str, ...]) -> list[Failure]:
        own = firms.own(*members)
        belief = readers.insider(known, firms, *members)
        found: list[Failure] = []
        for row in rows:
            if row.who == name:
                put = sum(value for cell, value in own.items() if cell in row.cells)
                found += judge_interval(row, belief, put, firms.others(row.cells, *members))
        if data["verdict"] == "safe":
            theirs = {f.cells: f"{name}, hidden sum" for f in known.hidden if _secret(firms, f.cells, members)}
            found += judge_known(theirs, belief, "verdict: safe")
        return found

    def by(groups: Mapping[str, tuple[str, ...]]) -> tuple[int, list[Failure]]:
        count = sum(row.who in groups for row in rows)
        return count + 1, [failure for name, members in groups.items() for failure in judged(name, members)]

    yield judged_case(title, OUTSIDER, "audit", about, lambda: by({OUTSIDER: ()}))
    yield judged_case(title, RESPONDENT, "audit", about, lambda: by({firm: (firm,) for firm in firms.names}))
    if pair:
        yield judged_case(title, COALITION, "audit", about, lambda: by({" + ".join(pair): pair}))


def _secret(firms: Firms, cells: Cells, members: Sequence[str]) -> bool:
    """Say whether a sum is a secret to some firms.

    It is one to those who are not in it. Of one that they are in, the secret is what the only other firm put in; nobody
    who is alone learns anything, and several others hide behind each other unless a rule says otherwise.
    """
    others = firms.others(cells, *members)
    inside = any(cell in cells for cell in firms.own(*members))
    return others == 1 if inside else others > 0


def _sensitive_sums(cells: Any, rules: Sequence[Any], world: World) -> dict[Cells, str]:
    """Return the sums that rules call sensitive."""
    found = dc.sensitivity(cells, rules)
    return {world.cells(found.tabulation.label(int(i))): "sensitive sum" for i in found.cells}


def _adjusted_sums(bench: Bench, firms: Firms) -> Iterator[Case]:
    """Sums that are moved until nobody knows the sensitive ones closely; the audit's intervals are judged."""
    rules = [dc.rules.PPercent(10)]
    try:
        release = dc.protect.tabular_adjustment(firms.tabulated(), rules)
    except dc.DiscreetError:
        return
    known = published(release, firms.world)
    data = dc.audit(release, workers=1, proofs=0).to_dict()
    rows = list(claims.intervals(data, firms.world))

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(readers.outsider(known, firms.world), firms.sums)
        return len(rows), [failure for row in rows for failure in judge_interval(row, belief)]

    yield judged_case("tabular-adjustment", OUTSIDER, "audit", (firms.world, firms.rows), by_outsider)


def _assessed_sums(bench: Bench, firms: Firms, *, compared: bool) -> Iterator[Case]:
    """Sums assessed under a profile, or said by a comparison to meet it."""
    policy = bench.random.choice(("business", "default", "safe-output"))
    cells = firms.tabulated()
    try:
        if compared:
            options = bench.random.choice(({}, {"insiders": "none"}, {"insiders": "none"}))
            grid = [{"name": "suppress", **options}]
            tried = dc.compare(cells, grid, policy=policy, draws=2, audits=1, seed=bench.seed(), workers=1)
            if not any(one.point.name == "suppress" and not one.faults for one in tried.points):
                return
            made = dc.assess(cells, policy, protection=grid[0], seed=bench.seed(), workers=1)
        else:
            made = dc.assess(cells, policy, seed=bench.seed(), workers=1)
    except dc.DiscreetError:
        return
    data = made.to_dict()
    assert made.evidence is not None
    release = made.evidence.release
    if release.method != "suppress" or not (compared or claims.released(data)):
        return
    known = published(release, firms.world, least=1)
    rows = list(claims.sensitive(data, firms.world))
    about = (firms.world, firms.rows, policy)
    title, door = "suppress (magnitudes)", f"{'compare' if compared else 'propose'} {policy}"

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(readers.outsider(known, firms.world), firms.sums)
        verdict, sums = claims.verdict(data), firms.sums
        each = [judge_sensitive(row, verdict, belief, sum(sums[c] for c in row.cells)) for row in rows]
        return len(rows), [failure for some in each for failure in some]

    yield judged_case(title, OUTSIDER, door, about, by_outsider)
    secret = {row.cells: "sensitive sum" for row in rows}
    yield from by_firms(title, door, firms, known, secret, about, firms.names)
