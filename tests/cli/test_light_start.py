"""What small commands leave unloaded shows nowhere: the help is that of the library, and so are the values."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from typer import BadParameter, Context
from typer._coercion import build_runtime_param

from discreet.cli import front_page, main
from discreet.cli.app import tree
from discreet.cli.plain_values import PlainValue


@pytest.mark.parametrize("width", [70, 72, 80, 100, 143])
def test_the_front_page_is_the_help_that_the_library_draws(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    drawn = run("--help").out
    assert "\n".join(front_page.page(width, coloured=False)) + "\n\n" == drawn
    coloured = "\n".join(front_page.page(width, coloured=True)) + "\n\n"
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == drawn
    assert coloured != drawn


def test_the_front_page_is_shown_for_help_and_for_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

    monkeypatch.setenv("COLUMNS", "80")
    for given, expected in (([], True), (["-h"], True), (["--help"], True), (["risk", "-h"], False), (["-x"], False)):
        with redirect_stdout(Terminal()) as out:
            assert front_page.shown(given) is expected
        assert bool(out.getvalue()) is expected
    with redirect_stdout(Terminal()) as out:
        main(["--help"])
    assert out.getvalue() == run("--help").out
    monkeypatch.setenv("COLUMNS", "50")
    assert not front_page.shown(["--help"])


def test_small_commands_load_little(tmp_path: Path) -> None:
    # As many rows as columns: these might be codes and their labels.
    (tmp_path / "square.csv").write_text("a,b,Count\n" + "".join(f"{a},{b},3\n" for a in "uvw" for b in "xyz"))
    little = ["pydantic", "importlib.metadata", "pandas", "scipy", "duckdb", "highspy"]
    little += ["importlib.resources", "tomllib", "zipfile"]
    little += [f"discreet.table.{name}" for name in ("release_writer", "table_writer", "guess", "coarsen")]
    given = [
        (["--help"], ["typer", "rich", "numpy", "pydantic", "discreet.cli.app"]),
        (["risk", "--example", "sex"], little),
        (["risk", "square.csv"], little),
    ]
    code = (
        "import sys\nfrom discreet.cli import main\n"
        f"for arguments, absent in {given}:\n"
        "    try:\n        main(arguments)\n    except SystemExit as stop:\n        assert not stop.code\n"
        "    print(arguments, sorted(set(absent) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [f"{arguments} []" for arguments, _ in given]


def test_nothing_is_looked_through_for_garbage_at_the_end(tmp_path: Path) -> None:
    """Interpreters look through all that was loaded when they end, but not through what is frozen."""
    code = (
        "import atexit, gc, sys\nfrom discreet.cli import main\n"
        "atexit.register(lambda: print(gc.get_freeze_count(), len(gc.get_objects()), file=sys.stderr))\n"
        "sys.argv = ['discreet', 'risk', '--example', 'sex']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    frozen, looked_through = map(int, done.stderr.split())
    assert frozen > 100 * looked_through


def _parameters(command: Any) -> Iterator[Any]:
    yield from command.params
    for name in getattr(command, "commands", {}):
        yield from _parameters(command.commands[name])


def test_values_are_those_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").touch()
    given: list[Any] = [None, "", "x", "there.csv", ".", "-", "7", "-3", "+4", "1e3", "0.5", "007", "10000000000000000"]
    given += ["nan", " 5", "5 ", "é", "\udcff", "true", True, 3, 2.5, "1_000", "2.0"]
    kinds: dict[str, Any] = {}
    for one in _parameters(tree()):
        about = one.type_descriptor.parameter_info
        kinds[f"{one.type_descriptor.annotation} {one.multiple} {one.nargs} {about.min} {about.max}"] = one
    assert len(kinds) > 12
    for parameter in kinds.values():
        context = Context(tree())
        several = parameter.multiple or parameter.nargs == -1
        library = build_runtime_param(parameter.type_descriptor)
        for value in [[one] for one in given[1:]] + [[], ["a", "b"], None] if several else given:
            parameter._runtime_param = None
            plain = PlainValue(parameter)
            told = [_told(one, value, parameter, context) for one in (library, plain)]
            assert told[0] == told[1], (parameter.name, parameter.type_descriptor.annotation, value)


def _told(taker: Any, value: Any, parameter: Any, context: Context) -> tuple[str, Any]:
    try:
        found = taker.coerce(value, param=parameter, ctx=context)
    except BadParameter as error:
        return "refused", str(error)
    return type(found).__name__, repr(found)


def test_commands_leave_pandas_alone(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text("a,b,count\n" + "".join(f"{a},{b},{b}\n" for a in "uvw" for b in ("4", "x")))
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "discreet", "audit", "release.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "figures were judged" in done.stdout
    assert "pandas." not in done.stderr.replace("pyarrow.pandas", "")
