"""What README and documentation show must run, and what is public must be documented."""

from __future__ import annotations

import inspect
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from tests.pages import TEXTS, pages_with_commands
from tests.plain import data_of

import discreet

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN = pages_with_commands()
EXAMPLES = [
    page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8")) and str(page.relative_to(ROOT)) not in RUN
]
"""Pages with Python and no commands; those with both run in ``test_pages``."""


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    discreet.datasets.religion().write("religion.csv")
    shutil.copytree(ROOT / "docs/assets/tutorial", "docs/assets/tutorial")
    Path("table.csv").write_text(TEXTS["table.csv"], encoding="utf-8")
    names: dict[str, object] = {"__name__": "example"}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page), "exec"), names)


FRONT_DOOR = [
    *("Attacker", "Contributions", "DataError", "Dimension", "DiscreetError", "Figures", "Hierarchy"),
    *("InfeasibleError", "Kind", "Ledger", "LimitError", "Limits", "Policy", "Presentation", "Release"),
    *("RequestError", "Table"),
    *("Tabulation", "assess", "audit", "compare", "count_records", "datasets", "estimate", "expected_risk"),
    *("explain_plan", "geography"),
    *("information_loss", "models", "plots", "population_uniques", "protect", "read_contributions", "read_hierarchy"),
    *("read_plan", "read_records", "read_release", "read_table", "read_tabulation", "replay", "report", "risk"),
    *("rules", "run_plan", "sensitivity"),
    *("studies", "suppress", "tabulate", "uniques", "utility"),
]


def test_the_front_door_is_this_and_documented() -> None:
    """A frozen list: what is added here is promised to users."""
    assert discreet.__all__ == FRONT_DOOR
    for name in discreet.__all__:
        value = getattr(discreet, name)
        assert inspect.getdoc(value), name
    assert set(dir(discreet)) == {*discreet.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'rsik'"):
        discreet.rsik  # noqa: B018


def test_importing_the_front_door_imports_nothing_heavy() -> None:
    code = "import sys, discreet; print(sorted({'numpy', 'numba', 'scipy', 'pandas', 'rich'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_no_verb_of_the_front_door_is_hidden_by_a_package() -> None:
    """A package of the same name would replace the function as soon as it is imported."""
    packages = {path.parent.name for path in (ROOT / "src/discreet").glob("*/__init__.py")}
    functions = {name for name in discreet.__all__ if inspect.isfunction(getattr(discreet, name))}
    assert not packages & functions


def test_numbers_in_the_readme_are_true() -> None:
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    # A terminal breaks lines where it has to.
    text = re.sub(r"\n   (?=\S)", " ", shown)
    result = discreet.assess(discreet.datasets.religion())
    assert result.sentence in text.replace("\n", " ")
    # The rounding is drawn anew each time: only R2 and the utility depend on the draw, and little.
    *reasons, last = result.reasons
    for reason in reasons:
        assert f" ✓ {reason}\n" in text
    assert re.sub(r"0\.\d+", "…", f" ✓ {last}\n", count=1) in re.sub(r"(R2 of the release is )0\.\d+", r"\1…", text)
    found = data_of(result)
    assert re.search(rf"risk before, R1 +{found['before']['value']:.4f}\n", text)
    figures = re.search(r"risk after, R2 +(0\.\d+)\nutility +(0\.\d+)\n", text)
    assert figures is not None
    assert abs(float(figures[1]) - found["after"]["value"]) < 0.01
    assert abs(float(figures[2]) - found["utility"]["utility"]) < 0.02


def test_the_map_in_the_readme_is_true() -> None:
    """Every place that it names is there; a name without a folder is beside the one before it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (`.*) \|$", text, re.MULTILINE)
    assert len(rows) >= 19
    for row in rows:
        folder = root = ROOT / "src/discreet"
        for name in re.findall(r"`([a-z0-9_/]+)`", row):
            places = [base / name for base in (root, folder)]
            found = [path for path in places if path.is_dir() or path.with_suffix(".py").is_file()]
            assert found, (row, name)
            if found[0] == places[0]:
                folder = found[0] if found[0].is_dir() else found[0].parent


def test_command_lines_of_the_readme_run_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line that stands alone, one after the other, in a folder with what the project brings and nothing else."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "docs/assets/tutorial", "docs/assets/tutorial")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^(?:\$ )?(discreet [a-z].*)$", text, re.MULTILINE)
    assert len(lines) >= 8
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "workbench":
            continue  # It serves until it is stopped.
        done = run(*words)
        assert done.code == 0, (line, done.err)
        assert done.out


def test_commands_in_the_table_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = discreet.datasets.religion()
    table.write("table.csv")
    found = discreet.assess(table, name="table")
    assert found.release is not None
    found.release.write("release.csv")
    found = discreet.assess("table.csv")
    found.write_record("table.record.json")
    discreet.protect.random_sample(table, n=245, seed=1).table.write("sample.csv")
    people = [f"{20 + i % 50},{'mf'[i % 2]},{i * i % 13}" for i in range(300)]
    Path("people.csv").write_text("\n".join(["age,sex,area", *people, ""]), encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`discreet " in line]
    assert len(rows) == 9
    for line in re.findall(r"`(discreet [^`]*)`", "\n".join(rows)):
        done = run(*shlex.split(line)[1:])
        # Only what was judged may be found wanting.
        assert done.code == 0 or (done.code == 1 and "geography" in line), (line, done.err)
        assert done.out


def _commands(group: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    if not hasattr(group, "commands"):
        return {path: group}
    found = [_commands(one, (*path, name)) for name, one in group.commands.items()]
    return {path: group} | {key: value for one in found for key, value in one.items()}


def test_command_lines_that_are_shown_name_commands_and_options_that_exist() -> None:
    import typer

    from discreet.cli.app import app

    commands = _commands(typer.main.get_command(app))
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES).replace("\\\n", " ")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    blocks = "\n".join(block for language, block in fenced if language in ("", "console"))
    lines = re.findall(r"^ *(?:\$ )?(discreet [a-z].*)$", blocks, re.MULTILINE)
    lines += re.findall(r"`(discreet [a-z][^`]*)`", text)
    helps = "\n".join(one.help or "" for one in commands.values())
    lines += re.findall(r"^ *(discreet [a-z].*)$", helps, re.MULTILINE)
    assert len(lines) > 100
    for line in lines:
        words = shlex.split(re.sub(r"[…\[\]|]", " ", line), comments=True)[1:]
        depth = max(n for n in range(3) if tuple(words[:n]) in commands)
        assert depth, line
        # A group is asked about all its commands: one of them may be meant where none is named.
        meant = [one for path, one in commands.items() if path[:depth] == tuple(words[:depth])]
        known = {"--help", *(option for one in meant for each in one.params for option in each.opts)}
        used = {word.split("=")[0] for word in words[depth:] if re.fullmatch(r"--?[a-zA-Z][a-z-]*(=.*)?", word)}
        assert used <= known, (line, used - known)


def test_options_that_the_readme_promises() -> None:
    import typer

    from discreet.cli.app import app

    commands = {
        path: one for path, one in _commands(typer.main.get_command(app)).items() if not hasattr(one, "commands")
    }
    options = {path: {text for one in command.params for text in one.opts} for path, command in commands.items()}
    assert {path for path, known in options.items() if "--json" not in known} == set()
    without = {path[0] for path, known in options.items() if "--output" not in known}
    assert without == {"inspect", "workbench", "ledger"}, "these look, serve and keep books"
    assert "--seed" not in options["rules",] | options["report",] | options["protect", "suppress"]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_picture_of_the_layers_is_the_contract(page: str) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in settings["contracts"] if contract["id"] == "layers")
    pictures = re.findall(r"^```\n(cli\b.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    drawn = [[re.split(r"\s{2,}", line)[0] for line in picture.strip().splitlines()] for picture in pictures]
    assert drawn == [layers]
