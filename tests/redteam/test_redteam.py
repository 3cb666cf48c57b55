"""A few hundred cases of the red team: no claim may be refuted, and none wrong."""

from __future__ import annotations

import ast
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from redteam.attack import ATTACKS
from redteam.case import Case

import discreet as dc
from discreet.decide.policy_texts import profiles
from redteam import methods, policies, run

FOLDER = Path(run.__file__).parent
CASES = {
    ("audited", "suppressed"): 28,
    ("assessed", "proposed"): 28,
    ("magnitudes", "recorded"): 24,
    ("linked", "released_before", "drawn_again", "sampled"): 24,
    ("written", "chained", "beside_counts", "with_statistics", "protected_with_statistics", "of_respondents"): 30,
    ("beside_sums", "means_of_sums"): 12,
    ("made_by_hand", "added_up", "in_two_ways", "corrected", "corrected_twice"): 28,
    ("planned", "planned_amounts", "run_again", "run_again_amounts", "numbers_beside_amounts"): 10,
}
"""How many cases of which attacks. The long tests make twenty times as many, and ``make redteam`` 20,000."""
METHODS = (
    "controlled-rounding (nearest)",
    "controlled-rounding (unbiased)",
    "small-count-rounding",
    "random-rounding with margins",
    "cell-key with margins",
)
"""These methods tell more by their margins, or by deciding on all cells together, than a single figure does."""


MORE = pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.long)])


@MORE
@pytest.mark.parametrize("attacks", CASES)
def test_no_claim_is_refuted(attacks: tuple[str, ...], times: int) -> None:
    assert _refuted(*_each("--attack", attacks), "--cases", str(CASES[attacks] * times), "--seed", "15") == 0


@MORE
def test_no_claim_names_a_reader_of_the_method_wrongly(times: int) -> None:
    attacks, cases = _each("--attack", ("assessed", "audited")), str(50 * times)
    assert _refuted(*attacks, *_each("--method", METHODS), "--cases", cases, "--seed", "3") == 0


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


def _refuted(*arguments: str) -> int:
    # The tables are so small that nothing has to be compiled.
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("DISCREET_KERNELS", "interpreted")
        return run.main(arguments)


def test_it_is_run_as_a_program() -> None:
    command = [sys.executable, "-m", "redteam", "--cases", "2"]
    ran = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "| **all** |" in ran.stdout


def test_every_attack_is_tried() -> None:
    assert {name for attacks in CASES for name in attacks} == {attack.__name__ for attack, _ in ATTACKS}


def test_only_the_front_door_is_used() -> None:
    """Attacks are handed to processes as all other work is; that knows nothing of tables."""
    allowed = {("run.py", "discreet.core.parallel")}
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            inside = [name for name in names if name.split(".")[0] == "discreet" and name != "discreet"]
            inside = [name for name in inside if (file.name, name) not in allowed]
            assert not inside, f"{file.name} imports {inside}"
            assert not (isinstance(node, ast.ImportFrom) and node.module == "discreet"), file.name


def test_every_profile_is_attacked() -> None:
    assert set(policies.PROFILES) == set(profiles())


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
