"""Plans in Python: a file, a folder or a dict runs to the same bytes as the command, and is refused by its keys."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cli.running import refused, run
from tests.programme.records import BUSINESS, FIRMS, firms, table

import discreet as dc

SEED = 2**127 + 1
TEXT = (
    BUSINESS + 'ledger = "office.sqlite"\n' + FIRMS + table("T1", ["region", "size"], "pizza") + table("T2", ["form"])
)
PLAN: Mapping[str, object] = tomllib.loads(TEXT)


@pytest.fixture(autouse=True)
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    firms(tmp_path)
    Path("plan.toml").write_text(TEXT)


def written(folder: str) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in Path(folder).iterdir() if file.is_file()}


def test_a_file_and_a_dict_run_to_the_bytes_of_the_command() -> None:
    assert run("plan", "run", "plan.toml", "--seed", SEED, "-o", "command").code == 0
    file = dc.run_plan("plan.toml", folder="file", seed=SEED, workers=1)
    data = dc.run_plan({**PLAN, "records": {"files": Path("firms.csv"), "contributor": "id"}}, folder="data", seed=SEED)
    assert file.verdict == data.verdict == "protect"
    assert {"T1.csv", "T2.csv", "record.json", "report.html"} <= written("command").keys()
    assert written("file") == written("command") == written("data")
    assert dc.run_plan(dc.read_plan("plan.toml"), folder="file", seed=SEED).fresh == 0


def test_a_dict_is_explained_as_its_file_is() -> None:
    assert dc.explain_plan(PLAN).to_dict() == dc.explain_plan("plan.toml").to_dict()
    assert dc.explain_plan(PLAN).sentence == "2 tables, 2 to protect in 2 clusters."


def test_a_folder_of_finished_tables_is_a_plan() -> None:
    Path("tables").mkdir()
    Path("tables/a.csv").write_text("area,sex,count\nn,m,5\nn,f,7\ns,m,9\ns,f,4\n")
    assert dc.explain_plan("tables").sentence == "1 table, 1 to protect in 1 cluster."


def test_what_is_published_is_entered_into_the_ledger() -> None:
    found = dc.run_plan(PLAN, folder="first", seed=SEED, publish=True)
    assert found.verdict == "protect"
    titles = [entry.title for entry in dc.Ledger("office.sqlite").entries()]
    assert titles == ["firms · pizza · 2024", "firms · count · 2024"]
    later = dc.run_plan({**PLAN, "period": "2025"}, folder="second", previous="first", seed=SEED)
    assert later.plan.previous is not None
    assert later.plan.previous.folder == str(Path("first").resolve())
    with pytest.raises(dc.RequestError, match="ledger: the plan names none"):
        dc.run_plan({key: value for key, value in PLAN.items() if key != "ledger"}, folder="none", publish=True)
    assert not Path("none").exists()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"polcy": "default"}, "the plan: polcy: there is no such key; did you mean 'policy'?"),
        ({"folder": "x"}, "the plan: folder: there is no such key; say under [output] where tables are written"),
        ({"records": {"files": "none.csv"}}, "none.csv does not exist; check the name and the folder"),
        ({"records": {"files": pa.table({"a": [1]})}}, "the plan: records.files: is a Table, and a plan holds texts"),
        ({"policy": dc.Policy.load("business")}, "the plan: policy: is a Policy, and a plan holds texts"),
        ({"tables": [{"name": "T1", "by": "region"}]}, "the plan: tables.0.by: is 'region'"),
        ({"output": {"folder": "../x"}}, "lies outside the folder of the plan"),
    ],
)
def test_a_fault_of_a_dict_is_told_by_its_key(more: Mapping[str, object], told: str) -> None:
    with pytest.raises(dc.RequestError, match=re.escape(told)) as fault:
        dc.run_plan({**PLAN, **more})
    assert "--" not in str(fault.value)
    assert not Path("published").exists()


def test_messages_name_arguments_in_python_and_options_at_the_command_line() -> None:
    Path("T1.csv").write_bytes(Path("firms.csv").read_bytes())
    own = TEXT.replace("firms.csv", "T1.csv")
    Path("own.toml").write_text(own)
    with pytest.raises(dc.RequestError, match=re.escape("name another folder (folder=)")):
        dc.run_plan(tomllib.loads(own), folder=".")
    assert "name another folder (--output)" in refused(run("plan", "run", "own.toml", "-o", "."))
    with pytest.raises(dc.RequestError, match="a list is no plan; name a TOML file"):
        dc.run_plan([])  # type: ignore[arg-type]
    with pytest.raises(dc.RequestError, match="there is no argument 'seeed'; did you mean 'seed'"):
        dc.run_plan(PLAN, seeed=1)  # type: ignore[call-arg]
    with pytest.raises(dc.RequestError, match=re.escape("(trial=True)")):
        dc.run_plan(PLAN, seed=1)


def test_options_of_a_run_are_listed_by_name() -> None:
    taken = inspect.signature(dc.run_plan).parameters
    assert {"folder", "previous", "publish", "key", "seed", "trial", "time_limit", "workers", "progress"} <= set(taken)
