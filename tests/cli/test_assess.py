from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import refused, run, start

import discreet as dc


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dc.datasets.religion().write(tmp_path / "religion.csv")
    return tmp_path


def test_one_command_and_no_options_give_a_verdict(folder: Path) -> None:
    found = run("assess", "religion.csv", "--record", "religion.record.json")
    assert found.code == 0, found.err
    assert found.out.startswith("PROTECT")
    assert "Written: religion.record.json" in found.out
    assert (folder / "religion.record.json").exists()
    again = run("replay", "religion.record.json")
    assert again.code == 0
    assert again.out.startswith("Reproduced")


def test_json_has_what_programs_rely_on(folder: Path) -> None:
    found = run("assess", "religion.csv", "--json", "--seed", 1, "--trial")
    data = json.loads(found.out)
    assert data["command"] == "assess"
    assert data["verdict"] == "protect"
    assert data["before"]["measure"] == "R1"
    assert data["after"]["measure"] == "R2"
    for key in ("reasons", "audit", "utility", "record", "policy", "release"):
        assert data[key], key


def test_release_and_report_are_written(folder: Path) -> None:
    found = run(
        "assess",
        "religion.csv",
        "-o",
        "out.csv",
        "--report",
        "report.html",
        "--record",
        "r.json",
        "--seed",
        1,
        "--trial",
    )
    assert found.code == 0, found.err
    assert dc.audit(dc.read_release("out.csv")).verdict == "safe"
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
    assert sorted(p.name for p in folder.iterdir()) == ["out.csv", "r.json", "religion.csv", "report.html"]


def test_withheld_tables_exit_with_1_and_release_nothing(folder: Path) -> None:
    found = run("assess", "religion.csv", "--as-is", "-o", "out.csv")
    assert found.code == 1
    assert found.out.startswith("WITHHOLD")
    assert "out.csv was not written" in found.out
    assert not (folder / "out.csv").exists()


def test_a_release_made_elsewhere_is_judged(folder: Path) -> None:
    dc.protect.random_rounding(dc.datasets.religion(), 3, seed=1).table.write("rounded.csv")
    given = ("--released", "rounded.csv", "--published-as", "random base=3")
    assert run("assess", "religion.csv", *given, "--record", "religion.record.json").code == 0
    assert run("replay", "religion.record.json").code == 0
    dc.datasets.religion().write("same.csv")
    found = run("assess", "religion.csv", "--released", "same.csv")
    assert found.code == 1
    assert "published exactly" in found.out


def test_a_sample_is_assessed(folder: Path) -> None:
    dc.protect.random_sample(dc.datasets.religion(), 245, seed=1).table.write("sample.csv")
    found = run("assess", "sample.csv", "--population-size", 2449, "--draws", 50, "--seed", 1, "--trial")
    assert found.code in (0, 1)
    assert "estimated risk" in found.out


def test_replay_says_what_differs(folder: Path) -> None:
    run("assess", "religion.csv", "--seed", 1, "--trial", "--record", "religion.record.json")
    dc.datasets.sex().write("religion.csv")
    found = run("replay", "religion.record.json")
    assert found.code == 1
    assert found.out.startswith("Not reproduced")
    assert "religion.csv was changed" in found.out
    data = json.loads(run("replay", "religion.record.json", "--json").out)
    assert data["same"] is False
    (folder / "religion.csv").unlink()
    assert "does not exist" in refused(run("replay", "religion.record.json"))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["missing.csv"], "missing.csv does not exist"),
        (["religion.csv", "--policy", "nobody"], "there is no policy 'nobody'"),
        (["religion.csv", "--policy", "bad.toml"], "line 2, limits.r3: there is no such key"),
        (["religion.csv", "--method", "roundin"], "there is no protection 'roundin'"),
        (["religion.csv", "--method", "random-rounding", "--as-is"], "give one of"),
        (["religion.csv", "--released", "missing.csv"], "missing.csv does not exist"),
        (["religion.csv", "--mark", "c"], "name it"),
        (["religion.csv", "-o", "religion.csv"], "is the table that is read"),
        (["religion.csv", "--record", "nowhere/r.json"], "name a file in a folder that exists"),
        (["religion.csv", "--example", "sex"], "a table is given, and the bundled one 'sex' too"),
        ([], "name one table"),
        (["religion.csv", "--edition", "publik"], "did you mean 'public'"),
        (["religion.csv", "--edition", "public"], "name a report (--report), or add --json"),
        (["religion.csv", "--edition", "public", "--json", "--as-is"], "there is no public edition"),
        (["religion.csv", "--by", "religion", "--count", "n"], "leave one of them out"),
    ],
)
def test_bad_requests_leave_nothing(folder: Path, options: list[str], what: str) -> None:
    (folder / "bad.toml").write_text("[limits]\nr3 = 1\n", encoding="utf-8")
    before = sorted(folder.iterdir())
    assert what in refused(run("assess", *options))
    assert sorted(folder.iterdir()) == before


def test_a_full_disk_is_told_and_loses_nothing(folder: Path) -> None:
    run("assess", "religion.csv", "--seed", 1, "--trial", "--record", "religion.record.json")
    kept = (folder / "religion.record.json").read_bytes()

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    command = [str(Path(sys.executable).with_name("discreet")), "assess", "religion.csv", "--seed", "2", "--trial"]
    command += ["--record", "religion.record.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=small, cwd=folder)
    assert done.returncode == 2, done
    assert "religion.record.json cannot be written" in done.stderr
    assert (folder / "religion.record.json").read_bytes() == kept
    assert sorted(p.name for p in folder.iterdir()) == ["religion.csv", "religion.record.json"]


def test_compare_recommends_and_goes_on(folder: Path) -> None:
    arguments = ["compare", "religion.csv", "--method", "random-rounding:base=3", "--method", "small-count-rounding"]
    arguments += ["--draws", "50", "--audits", "1", "--seed", "1", "--resume", "kept"]
    kept = ("--record", "religion.comparison.record.json")
    found = run(*arguments, "-o", "points.csv", "--report", "map.html", *kept)
    assert found.code == 0, found.err
    assert "Written: map.html, religion.comparison.record.json" in " ".join(found.out.split())
    # What small-count rounding tells a reader who knows it is not shown.
    assert "Take random-rounding, base 3" in " ".join(found.out.split())
    assert "Written: map.html, religion.comparison.record.json" in " ".join(found.out.split())
    assert len(list((folder / "kept").iterdir())) == 3
    assert len((folder / "points.csv").read_text(encoding="utf-8").splitlines()) == 4
    assert "<html" in (folder / "map.html").read_text(encoding="utf-8")
    data = json.loads(run(*arguments, "--json").out)
    assert data["kind"] == "comparison"
    assert data["recommended"] == 1
    replayed = run("replay", "religion.comparison.record.json")
    assert replayed.code == 0
    assert "the verdict is 'take random-rounding, base 3'" in " ".join(replayed.out.split())
    assert run(*arguments, "--record", "other.record.json").code == 0
    assert (folder / "other.record.json").read_bytes() == (folder / "religion.comparison.record.json").read_bytes()
    assert "give either" in refused(run("compare", "religion.csv", "--method", "x", "--grid", "g.toml"))
    assert run("compare", "--example", "religion", "--method", "none").code == 1


def test_the_public_edition_of_json_holds_nothing_but_the_release(folder: Path) -> None:
    found = run("assess", "religion.csv", "--json", "--edition", "public", "--seed", 1, "--trial")
    assert found.code == 0, found.err
    data = json.loads(found.out)
    assert data["edition"] == "public"
    assert not {"table", "before", "cells", "candidates", "protection"} & set(data)
    run("assess", "religion.csv", "--report", "public.json", "--edition", "public", "--seed", 1, "--trial")
    assert json.loads((folder / "public.json").read_text(encoding="utf-8")) == data


def test_a_drawn_seed_is_shown_and_repeats_the_assessment(folder: Path) -> None:
    shown = run("assess", "religion.csv", "-o", "first.csv", "--method", "random-rounding:base=3").out
    seed = shown.split("--seed ")[1].split()[0]
    again = run("assess", "religion.csv", "-o", "second.csv", "--method", "random-rounding:base=3", "--seed", seed).out
    assert (folder / "first.csv").read_bytes() == (folder / "second.csv").read_bytes()
    assert "drawn for this assessment" not in again


def test_complaints_name_the_file_once(folder: Path) -> None:
    (folder / "neg.csv").write_text("a,b,count\n1,1,5\n1,2,-3\n", encoding="utf-8")
    for command in ("assess", "compare"):
        assert refused(run(command, "neg.csv")).count("neg.csv") == 1
    for line in ("risk", "rules --rule threshold=3", "protect random-rounding", "audit", "uniques sample -N 90"):
        assert refused(run(*line.split(), "neg.csv")).count("neg.csv") == 1, line
    (folder / "dup.csv").write_text("a,b,count\n1,1,5\n1,1,3\n", encoding="utf-8")
    for line in ("risk dup.csv", "audit dup.csv", "ledger check --ledger l.sqlite dup.csv", "assess dup.csv"):
        assert refused(run(*line.split())).startswith("dup.csv: ")
        assert refused(run(*line.split())).count("dup.csv") == 1, line
    (folder / "zero.csv").write_text("a,b,count\n1,1,0\n1,2,0\n", encoding="utf-8")
    assert refused(run("assess", "zero.csv")).count("zero.csv") == 1


def test_help_shows_examples() -> None:
    for command in ("assess", "compare", "replay"):
        assert "Examples" in run(command, "--help").out
    assert "[[methods]]" in run("compare", "--help").out


def test_the_installed_command_runs(tmp_path: Path) -> None:
    record = tmp_path / "sex.record.json"
    found = start("assess", "--example", "sex", "--record", record, "--json")
    assert json.loads(found.out)["verdict"] == "release"
    assert start("replay", record).code == 0


@pytest.mark.parametrize("name", ["release.parquet", "release.csv"])
@pytest.mark.parametrize("method", ["suppress --rule threshold=3", "random-rounding"])
def test_a_release_is_not_taken_for_an_original(folder: Path, name: str, method: str) -> None:
    assert run("protect", *method.split(), "religion.csv", "-o", name, "--record", "made.json").code == 0
    told = refused(run("assess", name))
    assert "holds a release" in told
    assert f"discreet audit {name}" in told
    assert not Path("release.record.json").exists()
    # What the message names works.
    assert run("audit", name).code in (0, 1)
    assert run("assess", "religion.csv", "--released", name).code in (0, 1)


def test_records_in_columns_of_a_dictionary(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"area": ["a", "b", "b", "c"] * 30, "sex": ["m", "f", "f", "f"] * 30}
    pq.write_table(pa.table(columns), "plain.parquet")
    coded = {column: pa.array(entries).dictionary_encode() for column, entries in columns.items()}
    pq.write_table(pa.table(coded), "coded.parquet")
    plain, same = (json.loads(run("assess", f"{one}.parquet", "--json").out) for one in ("plain", "coded"))
    assert same["verdict"] == plain["verdict"]
    assert same["reasons"] == plain["reasons"]


def test_a_report_is_signed_by_its_author(folder: Path) -> None:
    signed = ("--author", "A. Novak", "--date", "2026-11-17")
    assert run("assess", "religion.csv", "--report", "r.html", *signed).code == 0
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert "A. Novak" in text
    assert "2026-11-17" in text
    for more in ((), ("--report", "p.html", "--edition", "public")):
        assert "sign an internal report" in refused(run("assess", "religion.csv", *more, *signed))


def test_marks_of_a_release_are_said(folder: Path) -> None:
    sums = "x,Total,21\ny,Total,32\nz,Total,47\nTotal,u,38\nTotal,v,62\nTotal,Total,100\n"
    inner = "a,b,count\nx,u,{}\nx,v,20\ny,u,30\ny,v,{}\nz,u,7\nz,v,40\n"
    Path("t.csv").write_text(inner.format(1, 2) + sums, encoding="utf-8")
    Path("r.csv").write_text(inner.format("c", "s") + sums, encoding="utf-8")
    assert "--mark" in refused(run("assess", "t.csv", "--released", "r.csv"))
    marked = run("assess", "t.csv", "--released", "r.csv", "--mark", "c=..", "--mark", "s=..", "--json")
    expected = dc.assess("t.csv", protection=dc.read_release("r.csv", marks=("c=..", "s=..")))
    assert json.loads(marked.out)["verdict"] == expected.verdict == "withhold"


def test_a_mark_that_is_not_true_of_the_original_is_refused(tmp_path: Path) -> None:
    """A 1 behind a mark that means 3 to 9 would be judged by an interval that it is not in, and released."""
    (tmp_path / "true.csv").write_text("a,count\nn,1\ns,2\nw,30\ne,40\nq,50\n")
    (tmp_path / "shown.csv").write_text("a,count\nn,c\ns,c\nw,30\ne,40\nq,50\n")
    (tmp_path / "own.toml").write_text("[rules]\nthreshold = 3\n")
    asked = ("assess", tmp_path / "true.csv", "--released", tmp_path / "shown.csv", "--policy", tmp_path / "own.toml")
    assert (
        "cell a=n is published as a figure that its original value does not fit" in run(*asked, "--mark", "c=3..9").err
    )
    assert run(*asked, "--mark", "c=1..2").out.startswith("RELEASE")
