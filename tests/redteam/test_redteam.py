"""A few hundred cases of the red team: no claim may be refuted, and none wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from redteam.attack import ATTACKS
from redteam.case import Bench, Case

import discreet as dc
from redteam import methods, run

FOLDER = Path(run.__file__).parent
CASES = {
    "audited": 60,
    "suppressed": 40,
    "assessed": 45,
    "proposed": 16,
    "magnitudes": 35,
    "linked": 12,
    "released_before": 25,
    "sampled": 10,
}


@pytest.mark.parametrize("attack", [one for one, _ in ATTACKS], ids=lambda attack: attack.__name__)
def test_no_claim_is_refuted(attack: Callable[[Bench], Iterator[Case]]) -> None:
    cases = [
        case
        for number in range(CASES[attack.__name__])
        for case in attack(Bench(Random(f"{attack.__name__} {number}")))
    ]
    failed = [f"{case.method}, {case.reader}, {case.door}: {f.what}: {f.text}" for case in cases for f in case.failures]
    assert sum(not case.skipped for case in cases) >= CASES[attack.__name__] // 2
    assert not failed, f"{len(failed)} claims fail:\n" + "\n".join(failed[:10])


def test_only_the_front_door_is_used() -> None:
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            inside = [name for name in names if name.split(".")[0] == "discreet" and name != "discreet"]
            assert not inside, f"{file.name} imports {inside}"
            assert not (isinstance(node, ast.ImportFrom) and node.module == "discreet"), file.name


def test_every_protection_is_attacked() -> None:
    assert {method.name for method in methods.COUNTS + methods.MAGNITUDES} == set(dc.protect.METHODS)


def test_the_table_goes_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "promise.md"
    page.write_text(f"before\n{run.START}\nold\n{run.END}\nafter\n", encoding="utf-8")
    rows = run.tally(
        [Case("suppress", "outsider", "audit", "", 3), Case("suppress", "outsider", "audit", "", skipped=True)]
    )
    run.write_page(run.markdown(rows), page)
    text = page.read_text(encoding="utf-8")
    assert "| suppress | outsider | 1 | 3 | 0 | 0 | 0 | 1 |" in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert run.PAGE.read_text(encoding="utf-8").count(run.START) == 1
