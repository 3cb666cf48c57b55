"""The command itself: help, version, start-up, and what becomes of faults."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import refused, run, start

import discreet
import discreet.cli
from discreet.cli import app, old_names
from discreet.decide.protections import make_method

COMMANDS = ("risk", "estimate", "study")


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_shows_an_example(command: str) -> None:
    for flag in ("--help", "-h"):
        outcome = run(command, flag)
        assert (outcome.code, outcome.err) == (0, "")
        lines = [line.strip() for line in outcome.out.splitlines()]
        examples = lines[lines.index("Examples") :]
        assert sum(line.startswith(f"discreet {command} ") for line in examples) >= 3
        assert "--json" in outcome.out
        assert "--seed" in outcome.out
        assert "--output" in outcome.out
        assert all(len(line) <= 80 for line in outcome.out.splitlines())


def test_the_examples_of_the_help_name_options_that_exist() -> None:
    found = dict(leaves(app.tree()))
    for command in found.values():
        text = re.sub(r"\[/?(?:dim|none|bold)\]", "", command.help).replace("\\\n", "")
        for line in re.findall(r"^ *discreet (.*)", text, re.MULTILINE):
            words = shlex.split(line)
            asked = next((found[tuple(words[:size])] for size in (2, 1) if tuple(words[:size]) in found), None)
            asked = asked or found[words[0], "sample"]  # discreet uniques FILE
            known = {flag for one in asked.params for flag in (*one.opts, *one.secondary_opts)}
            assert {word for word in words if word.startswith("-")} <= known, line


def _leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if not hasattr(command, "commands"):
        yield path
        return
    for name, one in command.commands.items():
        yield from _leaves(one, (*path, name))


@pytest.mark.parametrize("path", list(_leaves(app.tree())), ids=" ".join)
def test_help_is_short_and_all_of_it_can_be_asked_for(path: tuple[str, ...]) -> None:
    short, whole = (run(*path, flag).out for flag in ("--help", "--help-all"))
    assert len(short.splitlines()) <= 100
    assert short.find("Examples") < short.find("╭─")
    listed, every = (set(re.findall(r"^│[ *]+(--[a-z-]+)", text, re.MULTILINE)) for text in (short, whole))
    assert listed <= every
    told = re.search(r"(\d+) more options", short)
    assert len(every - listed) == (int(told[1]) if told else 0)
    assert "more options" not in whole


def test_help_lists_the_commands_and_is_what_no_arguments_show() -> None:
    outcome = run("--help")
    assert outcome.code == 0
    assert all(f"│ {command} " in outcome.out for command in COMMANDS)
    assert run() == outcome


def test_version() -> None:
    assert run("--version").out == f"discreet {discreet.__version__}\n"


def test_the_installed_command_and_the_module_are_the_same() -> None:
    command = start("risk", "--example", "sex", "--json")
    module = subprocess.run(
        [sys.executable, "-m", "discreet", "risk", "--example", "sex", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert command.code == 0
    assert command.out == module.stdout == run("risk", "--example", "sex", "--json").out
    assert command.err == module.stderr == ""


def test_a_refusal_in_a_process_of_its_own(tmp_path: Path) -> None:
    outcome = start("risk", tmp_path / "nothing.csv", "--output", tmp_path / "r.json")
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err == f"discreet: {tmp_path}/nothing.csv does not exist; check the name and the folder\n"
    assert list(tmp_path.iterdir()) == []


def test_heavy_packages_stay_unloaded(tmp_path: Path) -> None:
    table = discreet.Table.from_array([[5, 3], [1, 0]], {"area": ["n", "s"], "sex": ["m", "f"]})
    table.write(tmp_path / "long.csv")
    table.write(tmp_path / "wide.csv", layout="wide")
    table.write(tmp_path / "long.parquet")
    commands = (
        ["--help"],
        ["risk", "long.csv"],
        ["risk", "wide.csv", "--json"],
        ["risk", "long.parquet"],
        ["risk", "long.csv", "--released", "wide.csv", "--output", "r.csv"],
    )
    script = (
        "import json, sys\n"
        "from discreet.cli.app import main\n"
        "for command in json.loads(sys.argv[1]):\n"
        "    try:\n        main(command)\n"
        "    except SystemExit as stop:\n        assert not stop.code\n"
        "    heavy = {'scipy', 'numba', 'pandas', 'polars', 'matplotlib', 'narwhals'} & set(sys.modules)\n"
        "    print(command, sorted(heavy), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(commands)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines() == [f"{command} []" for command in commands]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rsik"], "there is no command 'rsik'; did you mean risk? See discreet --help"),
        (["t.csv"], "there is no command 't.csv'; name a command before the file, as in discreet inspect t.csv; see"),
        (["protect", "t.csv"], "name a command before the file, as in discreet protect random-rounding t.csv; see"),
        (["risk", "--jsn"], "there is no option --jsn; did you mean --json? See discreet risk --help"),
        (["risk", "a.csv", "b.csv"], "'b.csv' is more than the command takes"),
        (["risk", "--draws", "many"], "--draws is 'many'; give an integer; see discreet risk --help"),
        (["risk", "--top", "-1"], "--top is '-1'; give an integer, ≥ 0;"),
        (["risk", "--seed", "-1"], "--seed is '-1'"),
        (["risk", "--workers", "0"], "--workers is '0'; give an integer, ≥ 1;"),
        (["workbench", "--port=x"], "--port is 'x'; give an integer, 0 to 65,535;"),
        (["assess", "--example"], "--example needs a value, as --example religion; see discreet assess --help"),
        (["risk", "--output"], "--output"),
        (["estimate", "sample.csv"], "--population-size is missing (N, the number of people"),
        (["study"], "PAPER is missing (antal2014"),
    ],
)
def test_command_lines_that_are_wrong_get_one_line(arguments: list[str], message: str) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("discreet: ")
    assert outcome.err.count("\n") == 1
    assert message.lower() in outcome.err.lower()
    assert outcome.err.rstrip().endswith("--help")


@pytest.mark.parametrize("group", ["protect", "uniques", "ledger", "plan"])
def test_a_group_alone_shows_its_help_and_no_complaint(group: str) -> None:
    outcome = run(group)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.rstrip() == run(group, "--help").out.rstrip()


def test_long_examples_of_help_can_be_pasted() -> None:
    """A line that is too long goes on after a backslash; none is broken by the terminal."""
    lines = [line.rstrip() for line in run("rules", "--help").out.splitlines()]
    at = lines.index("   discreet rules table.parquet --rule p=10 --rule dominance=2,85 \\")
    assert lines[at + 1] == "       --rule threshold=3"


def broken(error: BaseException) -> object:
    def command(*_: object, **__: object) -> None:
        raise error

    return command


def test_faults_of_its_own_are_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.measures.risk.risk", broken(ZeroDivisionError("two\nlines")))
    outcome = run("risk", "--example", "sex")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err == (
        "discreet: a fault of discreet itself (ZeroDivisionError: two\\nlines); set DISCREET_DEBUG=1 to see where\n"
    )
    monkeypatch.setenv("DISCREET_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("risk", "--example", "sex")


def test_memory_that_does_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.measures.risk.risk", broken(MemoryError()))
    outcome = run("risk", "--example", "sex")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("discreet: the work does not fit into memory; ")


def test_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.measures.risk.risk", broken(KeyboardInterrupt()))
    outcome = run("risk", "--example", "sex")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "discreet: interrupted; nothing was written\n")


def test_an_interrupted_command_that_keeps_its_work_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = "discreet: interrupted; what was finished is kept, and the same command goes on from there\n"
    monkeypatch.setattr("discreet.programme.running.run_plan", broken(KeyboardInterrupt()))
    assert run("plan", "run", "--example", "sex", "-o", tmp_path / "made").err == kept
    monkeypatch.setattr("discreet.decide.compare.compare", broken(KeyboardInterrupt()))
    assert run("compare", "--example", "sex", f"--resume={tmp_path}").err == kept
    assert run("compare", "--example", "sex").err == "discreet: interrupted; nothing was written\n"


def test_interruption_while_modules_are_loaded() -> None:
    """Ctrl-C in the first tenths of a second showed where Python was."""
    code = """
import sys
class Interrupted:
    def find_spec(self, name, *more):
        if name == "discreet.cli.lazy_group":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
sys.argv = ["discreet", "risk", "--example", "sex"]
from discreet.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "discreet: interrupted; nothing was written\n")


def test_a_reader_that_goes_away() -> None:
    command = Path(sys.executable).with_name("discreet")
    done = subprocess.run(
        f"{command} risk --example country_of_birth --json --seed 1 | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_terminals_without_unicode() -> None:
    outcome = start("risk", "--example", "sex", PYTHONIOENCODING="ascii")
    assert (outcome.code, outcome.err) == (0, "")
    assert "R1 = 0.0150" in outcome.out


def test_the_front_door_hands_on_to_main(monkeypatch: pytest.MonkeyPatch) -> None:
    assert discreet.__version__
    handed: list[object] = []
    monkeypatch.setattr(app, "main", handed.append)
    discreet.cli.main(["risk", "--help"])
    monkeypatch.setattr(sys, "argv", ["discreet", "risk"])
    discreet.cli.main()
    assert handed == [["risk", "--help"], None]


BUSY = """
import ctypes, hashlib, signal, sys, time
MODE = sys.argv.pop()
# Shells let what they run in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from concurrent.futures import ThreadPoolExecutor
from discreet.cli import app
from discreet.core.files import ScratchFolder
from discreet.measures import risk

class Slow:
    def __del__(self, wait=time.sleep):
        # Taking the interpreter down stops all threads but this one.
        wait(3600)

def busy(*_, **__):
    # Compiled code without the interpreter lock that takes hours.
    def work(_):
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 2**31 - 1)
    scratch = ScratchFolder()
    print(scratch.name, flush=True)
    if MODE == "main":
        work(0)
    while MODE == "callback":
        # An exception in a callback of a library goes no further.
        ctypes.CFUNCTYPE(None)(lambda: time.sleep(3600))()
    if MODE == "teardown":
        sys.slow = Slow()
        time.sleep(3600)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(4)))

risk.risk = busy
app.main()
"""


@pytest.mark.parametrize("where", ["main", "threads", "callback", "teardown"])
def test_ctrl_c_ends_compiled_code(where: str) -> None:
    """Waiting for the work would take hours."""
    command = [sys.executable, "-c", BUSY, "risk", "--example", "sex", where]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        scratch = Path(process.stdout.readline().rstrip())
        assert scratch.is_dir()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert complaint == "discreet: interrupted; nothing was written\n"
    assert not scratch.exists()


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, child in command.commands.items():
        yield from leaves(child, (*path, name))


def test_one_word_has_one_meaning() -> None:
    """An option of one name is of one type, and says the same, in every command."""
    types: dict[str, set[str]] = {}
    for path, command in leaves(app.tree()):
        for one in command.params:
            if one.param_type_name == "argument":
                assert one.metavar == one.metavar.upper(), (path, one.name)
            elif not one.hidden:
                for flag in one.opts:
                    types.setdefault(flag, set()).add(str(one.type_descriptor.annotation))
    for flag in ("--released", "--published-as", "--by", "--population-size", "--largest", "--top", "--example"):
        assert len({kind.replace(" | None", "") for kind in types[flag]}) == 1, (flag, types[flag])
    for former in ("--release", "--rounded"):
        assert former not in types


def test_former_names_are_refused_with_the_present_one() -> None:
    """No option has two names, and none that changed its name is left out of the list."""
    found = {
        " ".join(path): {flag for one in command.params for flag in one.opts} for path, command in leaves(app.tree())
    }
    for name, renamed in old_names.RENAMED.items():
        for former, present in renamed.items():
            assert former not in found[name], (name, former)
            assert present in found[name], (name, present)
            told = refused(run(*name.split(), former, "1"))
            assert f"{former} is called {present} now; see discreet {name} --help" in told


def test_help_speaks_of_options_not_of_python() -> None:
    for path, command in leaves(app.tree()):
        texts = [command.help or "", *(getattr(one, "help", "") or "" for one in command.params)]
        found = re.findall(r"`|\bdc\.|\b(?:None|True|False)\b|\w\(\)", " ".join(texts))
        assert not found, (path, found)
    shown = " ".join(run("protect", "table-swapping", "--help").out.split())
    assert "--rate says how large a share" in shown
    assert "--keep-all of how many dimensions" in shown


def test_records_of_former_names_are_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,count\nx,4\ny,13\nz,8\n", encoding="utf-8")
    asked = ("protect", "hide-and-round", "t.csv", "--hide-up-to", "4", "-o", "r.csv", "--record", "r.json")
    assert run(*asked).code == 0
    kept = Path("r.json").read_text(encoding="utf-8")
    Path("r.json").write_text(kept.replace("--hide-up-to", "--limit"), encoding="utf-8")
    assert run("replay", "r.json").code == 0


def test_a_word_of_the_command_line_has_one_meaning() -> None:
    """Every option takes the same in all commands, and a method takes what its command calls a parameter."""
    types: dict[str, set[str]] = {}
    for _, command in leaves(app.tree()):
        for one in command.params:
            for flag in one.opts if one.param_type_name == "option" else ():
                kind = str(one.type_descriptor.annotation)
                types.setdefault(flag, set()).add(
                    re.sub(r"list\[(.*)\]", r"\1", kind).removeprefix("<class '").rstrip("'>")
                )
    assert {flag: kinds for flag, kinds in types.items() if len(kinds) > 1} == {"--threshold": {"str", "int", "float"}}
    swapped = make_method("table-swapping", {"keep-all": 2})
    assert swapped == make_method("table-swapping", {"keep": 2})


def test_shells_complete_commands() -> None:
    words = {"COMP_WORDS": "discreet ri", "COMP_CWORD": "1", "_DISCREET_COMPLETE": "complete_bash"}
    assert "risk" in start(**words).out.split()


@pytest.mark.parametrize(
    "command",
    [
        *("assess", "audit", "compare --draws 2 --audits 1", "inspect", "risk", "rules --rule threshold=3"),
        *(
            "estimate -N 5000 --draws 5",
            "uniques -N 5000 --loglinear none",
            "protect random-rounding",
            "protect suppress --rule threshold=3",
        ),
    ],
)
def test_commands_take_a_bundled_table(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run(*command.split(), "--example", "cholesterol")
    assert outcome.code in (0, 1), outcome.err


def test_what_solvers_print_past_python_does_not_reach_the_output(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from discreet.cli import app\n"
        "run = app._run\n"
        "app._run = lambda given: (os.write(1, b'remark of a solver'), run(given))\n"
        "sys.argv = ['discreet', 'risk', '--example', 'religion', '--json']\n"
        "app.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["command"] == "risk"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("discreet a", ["assess", "audit"]),
        ("discreet protect su", ["suppress"]),
        ("discreet protect contr", ["controlled-rounding"]),
        ("discreet assess --rel", ["--released"]),
        ("discreet ledger check --pol", ["--policy"]),
        ("discreet assess --policy ", ["business", "census", "default", "health", "safe-output"]),
        ("discreet protect suppress --example re", ["religion"]),
        ("discreet compare t.csv --method random-", ["random-rounding", "random-sample"]),
        ("discreet study ", ["antal2014", "antal2015", "cohen2009", "domingo2002"]),
    ],
)
def test_the_shell_completes_commands_options_and_names(
    typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_DISCREET_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    assert run().out.split() == offered
