"""The audit as people call it against every table that fits, listed one by one."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from tests.feasible.oracle import world
from tests.feasible.random_releases import release

import discreet as dc
from discreet import Attacker
from discreet.auditing.audit_result import Audit
from discreet.table.attacker import Fact

MOST = 3_000


def compare(seed: int) -> int:
    parts, names = release(seed)
    place, trees = world(parts)
    tables = np.array(list(itertools.islice(place.tables(60), MOST)))
    if len(tables) == MOST:
        return 0
    rng = np.random.default_rng(seed)
    ask = names if rng.random() < 0.5 else ()
    plain = dc.audit(parts, about=ask)
    check(plain, tables, place, trees, "outsider")
    counted = dc.audit(parts, about=ask, law="tables", proofs=0)
    # Without a crossing, linked tables are drawn from side by side, not from one table that they all come from.
    for cell in counted.cells if ask or len(parts) == 1 else ():
        values = tables[:, place.members(dict(cell.cell), trees)].sum(axis=1)
        shares = np.array(list(Counter(values.tolist()).values())) / len(tables)
        assert cell.bits == pytest.approx(-(shares * np.log2(shares)).sum(), abs=1e-9)
    if ask:
        assert counted.tables == len(tables)
    open_ = [cell for cell in plain.cells if cell.values > 1]
    if not open_:
        return 1
    known = open_[int(rng.integers(len(open_)))]
    members = place.members(dict(known.cell), trees)
    sums = tables[:, members].sum(axis=1)
    own = int(rng.choice(sums[sums > 0])) if (sums > 0).any() else 0
    narrow = Fact(known.cell, lower=own)
    inside = tables[sums >= own]
    facts = dc.audit(parts, about=ask, attackers=[Attacker("neighbour", (), (narrow,))], proofs=0)
    check(facts, inside, place, trees, "neighbour")
    # Whom no row names learns nothing beyond the outsider.
    named = {cell.name for cell in facts.cells if cell.attacker == "neighbour"}
    for cell in plain.cells:
        values = inside[:, place.members(dict(cell.cell), trees)].sum(axis=1)
        if cell.name not in named:
            assert (cell.lower, cell.upper) == (values.min(), values.max())
    alone = dc.audit(parts, about=ask, attackers=[Attacker.insider(known.cell, own, others=0)], proofs=0)
    check(alone, tables[sums == own], place, trees, "insider")
    one = dc.audit(parts, about=ask, attackers=[Attacker.insider(known.cell, own, others=1)], proofs=0)
    seen = next(c for c in one.cells if c.attacker == "insider" and c.name == known.name)
    assert seen.subject == "largest other contributor"
    assert (seen.lower, seen.upper) == (sums[sums >= own].min() - own, sums.max() - own)
    return 1


def check(result: Audit, tables: np.ndarray, place, trees, attacker: str) -> None:  # type: ignore[no-untyped-def]
    for cell in result.cells:
        if cell.attacker == attacker and cell.subject == "value":
            values = tables[:, place.members(dict(cell.cell), trees)].sum(axis=1)
            assert (cell.lower, cell.upper) == (values.min(), values.max()), cell.name
            assert cell.values == values.max() - values.min() + 1
            assert (cell.verdict == "unsafe") == (values.min() == values.max())


def test_outsiders_and_insiders_against_the_list_of_all_tables() -> None:
    assert sum(compare(seed) for seed in range(10_000, 10_050)) >= 25


@pytest.mark.long
@pytest.mark.parametrize("block", range(8))
def test_many_outsiders_and_insiders(block: int) -> None:
    assert sum(compare(seed) for seed in range(20_000 + 250 * block, 20_250 + 250 * block)) >= 120
