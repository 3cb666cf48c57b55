"""A few hundred cases of the red team: no claim may be refuted, and none wrong."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from redteam.attack import ATTACKS
from redteam.case import Case

import discreet as dc
from redteam import methods, run

FOLDER = Path(run.__file__).parent
CASES = {
    "audited": 90,
    "suppressed": 40,
    "assessed": 70,
    "proposed": 20,
    "magnitudes": 90,
    "linked": 12,
    "released_before": 25,
    "drawn_again": 30,
    "sampled": 10,
}


@pytest.mark.parametrize("attack", CASES)
def test_no_claim_is_refuted(attack: str) -> None:
    # In a process of its own nothing has to be compiled.
    command = [sys.executable, "-m", "redteam", "--attack", attack, "--cases", str(CASES[attack]), "--seed", "15"]
    ran = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_attack_is_tried() -> None:
    assert set(CASES) == {attack.__name__ for attack, _ in ATTACKS}


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
    case = Case("suppress", "outsider", "audit", "an original", 3)
    rows = run.tally([case, replace(case, claims=0, skipped=True)])
    run.write_page(run.markdown(rows), page)
    text = page.read_text(encoding="utf-8")
    assert "| suppress | outsider | 1 | 3 | 0 | 0 | 0 | 1 |" in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert run.PAGE.read_text(encoding="utf-8").count(run.START) == 1
