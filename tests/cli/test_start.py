"""Small tables start at once: nothing is compiled, on the first day as on any other, and without any extra too."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import run

import discreet
from discreet.cli.show import CompilingBar

TABLE = ("protect", "suppress", "table.csv", "--rule", "threshold=3", "-o", "again.csv")
FIRMS = ("--by", "area,size", "--value", "turnover", "--rule", "p=10")
COMMANDS = (
    ("risk", "table.csv"),
    ("rules", "table.csv", "--rule", "threshold=3"),
    TABLE,
    ("audit", "release.csv"),
    ("assess", "table.csv"),
    ("estimate", "table.csv", "-N", "10000"),
    ("estimate", "table.csv", "-N", "10000", "--model", "polya"),
    ("uniques", "table.csv", "-N", "10000"),
    ("protect", "controlled-rounding", "table.csv", "--base", "3", "-o", "rounded.csv"),
    ("protect", "small-count-rounding", "table.csv", "--base", "3", "-o", "small.csv"),
    ("protect", "random-rounding", "table.csv", "--base", "3", "-o", "random.csv"),
    ("protect", "cell-key", "table.csv", "--bound", "2", "--variance", "1", "-o", "keyed.csv"),
    ("protect", "simulation", "table.csv", "-o", "simulated.csv"),
    ("protect", "tabular-adjustment", "firms.csv", *FIRMS, "--norm", "squared", "-o", "adjusted.csv"),
    ("protect", "suppress", "firms.csv", *FIRMS, "--search", "optimal", "-o", "hidden.csv"),
    ("compare", "table.csv", "--draws", "4", "--audits", "1"),
    ("ledger", "check", "--example", "religion"),
    ("plan", "run", "--example", "religion", "-o", "planned"),
)
EXTRAS = ("numba", "scipy", "pandas", "polars", "matplotlib", "openpyxl", "pyscipopt", "fastapi")
RUN = """
import importlib.util
import json
import os
import pkgutil
import sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in {absent} else found(name, *more)
class Absent:
    def find_spec(self, name, *more):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Absent())
import discreet
from discreet.cli import main
for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            assert missing.name in {absent}, missing
from discreet.core import compiled
made, compiling = [], compiled._compiling
compiled._compiling = lambda kernel, around: made.append(kernel) or compiling(kernel, around)
for number, arguments in enumerate(json.loads({commands!r})):
    if not os.fork():
        said = os.open(f"{{number}}-{absent_ones}.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        try:
            main(arguments)
        except SystemExit as stop:
            if stop.code not in (None, 0, 1):
                raise
        print("kernels compiled:", len(made))
        print("compiler loaded:", sys.modules.get("numba") is not None, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of 90 cells."""
    made = tmp_path_factory.mktemp("start")
    counts = np.random.default_rng(3).negative_binomial(1, 0.08, (10, 9))
    rows = [f"a{i},g{j},{counts[i, j]}" for i in range(10) for j in range(9)]
    (made / "table.csv").write_text("\n".join(["area,group,count", *rows]) + "\n")
    sizes = np.random.default_rng(4).lognormal(5, 1, (4, 3, 4)).astype(int)
    rows = [f"a{i},s{j},{sizes[i, j, k]}" for i in range(4) for j in range(3) for k in range(4)]
    (made / "firms.csv").write_text("\n".join(["area,size,turnover", *rows]) + "\n")
    done = run("protect", "suppress", made / "table.csv", "--rule", "threshold=3", "-o", made / "release.csv")
    assert done.code == 0, done.err
    return made


@pytest.fixture(scope="module", params=[False, True], ids=["with", "without"])
def said(folder: Path, request: pytest.FixtureRequest) -> list[str]:
    """What each command says, run in a process that has imported every module and done nothing else."""
    hidden = EXTRAS if request.param else ()
    code = RUN.format(absent=hidden, absent_ones=len(hidden), commands=json.dumps(COMMANDS))
    made = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    return [(folder / f"{number}-{len(hidden)}.txt").read_text(encoding="utf-8") for number in range(len(COMMANDS))]


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=[" ".join(given[:2]) for given in COMMANDS])
def test_no_kernel_is_compiled_for_a_small_table(said: list[str], number: int) -> None:
    assert said[number].endswith("kernels compiled: 0\ncompiler loaded: False\n")
    assert "compiling" not in said[number]
    assert "compiler]" not in said[number]


def test_scipy_is_imported_for_least_squares_over_many_sums_alone() -> None:
    source = Path(discreet.__file__).parent
    used = {
        str(file.relative_to(source))
        for file in source.rglob("*.py")
        if "scipy" in (text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
        if name.split(".")[0] == "scipy"
    }
    assert used == {str(Path("protect", "adjustment_program.py"))}


def test_compiling_is_announced_on_one_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    bar = CompilingBar()
    for done in range(4):
        bar(done, 3, "compiling once, about 2 s")
    assert capsys.readouterr().err == "discreet: compiling once, about 2 s\n"


def test_compiling_shows_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = CompilingBar()
    for done in range(4):
        bar(done, 3, "compiling once, about 2 s")
    assert "3/3" in screen.getvalue()
