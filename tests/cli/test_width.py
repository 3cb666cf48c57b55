"""What people read fits 80 columns, with and without colours, and holds no raw Python."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.cli.running import run

import discreet as dc

# What the tests share is made once, by the one process that runs them all.

COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
RAW = re.compile(r"\{'|\[\]|\['|\[\d+(, \d+)+\]|\be-\d\d|None\b|True\b|False\b|nan\b")
COMMANDS = [
    "assess religion.csv",
    "assess religion.csv --method cell-key",
    "assess sample.csv --population-size 2449 --draws 20",
    "compare religion.csv --draws 4 --audits 1",
    "audit suppressed.csv",
    "risk religion.csv",
    "risk religion.csv --released suppressed.csv",
    "risk religion.csv --method random-rounding --draws 20",
    "estimate sample.csv -N 2449 --draws 20",
    "uniques sample.csv -N 2449",
    "uniques size -N 46228 --cells 1108 --at-most 0.05 --curve",
    "uniques sizes -N 46228 -n 8399 -K 1108 -s 108 --prior multinomial --prior zeros:0.9 --filled 700",
    "rules religion.csv --rule threshold=3 --rule group=0",
    "inspect religion.csv",
    "protect redesign religion.csv --rule threshold=3 --tries 20",
    "protect record-swapping religion.csv --area output_area",
    "protect suppress religion.csv --rule threshold=3 -o again.csv --status why.csv",
    "protect simulation religion.csv",
    "protect ptable --bound 5 --variance 3",
    "study cohen2009 --draws 50",
    "study antal2015 --table religion.csv --samples 4 --draws 4",
    "tabulate people.csv --by area,sex -o t.parquet",
    "ledger add sample.csv --variable sampled --title 'A title that is a good deal longer than most titles are'",
    "ledger list",
    "ledger check suppressed.csv",
    "replay religion.record.json",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("width")
    religion = dc.datasets.religion()
    religion.write(made / "religion.csv")
    dc.protect.random_sample(religion, n=245, seed=1).table.write(made / "sample.csv")
    run("protect", "suppress", made / "religion.csv", "--rule", "threshold=3", "-o", made / "suppressed.csv")
    run("assess", made / "religion.csv", "--record", made / "religion.record.json")
    run("ledger", "add", made / "suppressed.csv", "--ledger", made / "ledger.sqlite")
    (made / "people.csv").write_text("area,sex\n" + "n,f\ns,m\nn,m\n" * 5, encoding="utf-8")
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_fit_and_read_as_words(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    outcome = run(*shlex.split(command))
    assert outcome.code in (0, 1), outcome.err
    plain = COLOUR.sub("", outcome.out)
    assert plain
    assert [line for line in plain.splitlines() if cell_len(line.rstrip()) > 80] == []
    assert RAW.search(plain) is None, RAW.search(plain)


def test_help_says_in_words_what_options_take() -> None:
    for command in ("plan run", "geography", "uniques size", "protect cell-key", "ledger check", "study"):
        told = run(*command.split(), "--help").out
        assert not re.search(r"<(str|bool|path|int|float|list)|x[<>]=|10000000", told), told
        assert max(map(cell_len, told.splitlines())) <= 80
