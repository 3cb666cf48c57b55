"""``discreet audit``: what it prints is what the library returns, and its exit code is the verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.auditing.examples import TABLE_1, TABLE_2, csv_of
from tests.cli.running import refused, rows_of, run

import discreet as dc
from discreet import Attacker, Kind
from discreet.core.errors import with_options


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(csv_of(TABLE_1, "x"))
    return path


def answer(*arguments: object, code: int = 0) -> dict[str, Any]:
    outcome = run("audit", *arguments, "--json")
    assert (outcome.code, outcome.err) == (code, "")
    data: dict[str, Any] = json.loads(outcome.out)
    assert (data.pop("schema"), data.pop("command")) == (1, "audit")
    return data


def test_same_as_the_library(table: Path) -> None:
    assert answer(table) == json.loads(json.dumps(dc.audit(dc.read_release(table), proofs=None).to_dict()))
    for cell in answer(table, "--least", 0)["cells"]:
        assert {"cell", "lower", "upper", "values", "bits", "dr", "proof", "attacker"} <= set(cell)
        assert (cell["values"], cell["determined"]) == (407, False)
        assert cell["proof"]


def test_exit_codes_are_verdicts(table: Path) -> None:
    assert run("audit", table).code == 0
    assert answer(table, "--min-width", 500, code=1)["verdict"] == "unsafe"
    assert answer(table, "--max-dr", 0.1, code=1)["verdict"] == "unsafe"
    assert answer(table, "--time-limit", 0, code=1)["verdict"] == "incomplete"
    assert refused(run("audit", table, "--mark", "y")).startswith(f"{table}: line ")


def test_for_people(table: Path) -> None:
    out = run("audit", table, "--least", 0).out
    assert out.startswith("safe\n4 figures were judged")
    assert "3,898 − 592 − 329 − 1,440" in " ".join(out.split())


def test_insiders_rounding_and_redesign(table: Path, tmp_path: Path) -> None:
    rounded = tmp_path / "r.csv"
    rounded.write_text("x,count\n1,1000\n2,20\n")
    data = answer(rounded, "--published-as", "conventional base=10", "--insider", "x=1:400")
    inside = next(c for c in data["cells"] if c["attacker"] == "insider")
    assert (inside["lower"], inside["upper"]) == (595, 604)
    same = dc.audit(
        dc.read_release(rounded, kind=Kind("conventional", base=10)),
        attackers=[Attacker.insider({"x": "1"}, 400)],
        proofs=None,
    )
    assert data == json.loads(json.dumps(same.to_dict()))
    merged = tmp_path / "m.csv"
    merged.write_text(csv_of(TABLE_2))
    data = answer(merged, "--merged", "activity:5,6=5+6", "--about", "activity,size", "--absent", "unpublished")
    found = {(c["cell"]["activity"], c["cell"]["size"]): (c["lower"], c["upper"]) for c in data["cells"]}
    assert found["5", "4"] == (0, 649)
    assert found["6", "8"] == (0, 3467)


def test_contributions_of_firms(tmp_path: Path) -> None:
    shown, firms = tmp_path / "t.csv", tmp_path / "firms.csv"
    shown.write_text("x,value\n1,x\n2,x\nTotal,9\n")
    firms.write_text("x,respondent,value\n1,A,4\n2,B,1\n2,C,2\n2,D,2\n")
    data = answer(shown, "--contributions", firms, code=1)
    library = dc.audit(dc.read_release(shown), contributions=dc.read_contributions(firms), proofs=None)
    assert data == json.loads(with_options(json.dumps(library.to_dict())))
    assert next(c for c in data["cells"] if c["attacker"] == "A" and c["cell"] == {"x": "2"})["lower"] == 5
    assert "there is no column 'respondent'" in refused(run("audit", shown, "--contributions", shown))


def test_linked_files_and_output(tmp_path: Path) -> None:
    a, b, out = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "out.csv"
    a.write_text("x,count\n1,x\n2,x\nTotal,9\n")
    b.write_text("x,count\n1,4\n")
    outcome = run("audit", a, b, "--absent", "unpublished", "--output", out)
    assert outcome.code == 1
    assert [row["lower"] for row in rows_of(out)] == ["4", "5"]
    assert "published in b.csv" in rows_of(out)[0]["proof"]


def test_laws_and_knowledge(table: Path) -> None:
    data = answer(table, "--law", "tables", "--know", "activity=5,size=5:10..20")
    assert data["tables"] == 11
    assert "no law" in refused(run("audit", table, "--law", "x"))
    assert "is not CELL:LOW..HIGH" in refused(run("audit", table, "--know", "activity=5:3"))
    assert "names no cell" in refused(run("audit", table, "--insider", "5:3"))


def test_contributors_of_a_table_that_hides_nothing(tmp_path: Path) -> None:
    shown, firms = tmp_path / "t.csv", tmp_path / "firms.csv"
    shown.write_text("x,value\n1,1000\n2,100\nTotal,1100\n")
    firms.write_text("x,respondent,value\n1,A,400\n1,B,600\n2,C,52\n2,D,47\n2,E,1\n")
    plain = run("audit", shown)
    assert plain.code == 1
    assert plain.out.startswith("incomplete\nAll figures are published exactly")
    assert "--contributions" in plain.out
    data = answer(shown, "--contributions", firms, code=1)
    first = next(cell for cell in data["cells"] if cell["attacker"] == "A")
    assert (first["lower"], first["upper"], first["subject"]) == (600, 600, "largest other contributor")
    near = answer(shown, "--contributions", firms, "--within", 5, code=1)
    assert {c["attacker"] for c in near["cells"] if c["verdict"] == "unsafe"} == {"A", "B", "C", "D"}
    both = answer(shown, "--contributions", firms, "--coalition", "C+E", code=1)
    assert next(cell for cell in both["cells"] if cell["attacker"] == "C + E")["upper"] == 47
    assert "within is about contributions" in refused(run("audit", shown, "--within", 5))


def test_levels_of_the_rules(tmp_path: Path) -> None:
    counts, shown = tmp_path / "counts.csv", tmp_path / "t.csv"
    counts.write_text("a,b,count\nx,m,1\nx,n,9\ny,m,8\ny,n,7\n")
    shown.write_text(
        "a,b,count\nx,m,x\nx,n,x\ny,m,x\ny,n,x\nx,Total,10\ny,Total,15\nTotal,m,9\nTotal,n,16\nTotal,Total,25\n"
    )
    data = answer(shown, "--original", counts, "--rule", "threshold=3")
    assert data["verdict"] == "safe"
    strict = answer(shown, "--original", counts, "--rule", "threshold=20", code=1)
    failing = [cell for cell in strict["cells"] if cell["verdict"] == "unsafe"]
    assert all(cell["faults"] and cell["attacker"] == "outsider" and cell["proof"] for cell in failing)
    bare = tmp_path / "bare.csv"
    bare.write_text("a,b,count\nx,m,1\nx,n,9\ny,m,8\ny,n,7\n")
    data = answer(bare, "--original", counts, "--rule", "threshold=3", code=1)
    assert data["cells"][0]["faults"] == ["sensitive, but published exactly"]
    assert "rules judge the original" in refused(run("audit", shown, "--rule", "threshold=3"))
    assert "as threshold=3" in refused(run("audit", shown, "--original", counts, "--rule", "threshold"))
    assert "no rule 'q'" in refused(run("audit", shown, "--original", counts, "--rule", "q=3"))
    assert "pq takes 2 numbers (p, q), as pq=10,50" in refused(
        run("audit", shown, "--original", counts, "--rule", "pq=1,2,3,4,5,6")
    )


def test_other_tables_are_named(tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("x,count\n1,x\n2,x\nTotal,9\n")
    b.write_text("x,count\n1,4\n")
    out = run("audit", a, b, "--absent", "unpublished").out
    assert "Narrower because of another table" in out
    assert "0 to 9" in out


def test_what_is_written_is_audited_without_options(tmp_path: Path) -> None:
    table = dc.Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    release = dc.protect.random_rounding(table, base=3, seed=1)
    (file,) = release.write(tmp_path / "r.csv", trial=True)
    data = answer(file, "--law", "method")
    assert [c["bits"] for c in data["cells"]] == [c.bits for c in dc.audit(release, law="method").cells]


def test_it_says_what_safe_means(table: Path) -> None:
    """Without limits safe is a weak word: only that nothing is determined."""
    bare = run("audit", table)
    assert "Safe means here only: not worked out exactly; ask for more (--min-width, --max-dr" in " ".join(
        bare.out.split()
    )
    assert answer(table)["criterion"] == {"safe_means": "not determined", "limits": {}}
    limits = ["--min-width", 20, "--max-dr", 0.5]
    told = run("audit", table, *limits)
    assert (
        "Safe means here: not worked out exactly, and an interval at least 20 wide, a risk of at most 0.5."
        in " ".join(told.out.split())
    )
    assert answer(table, *limits)["criterion"]["limits"] == {"min_width": 20, "max_dr": 0.5}
    original, hidden = table.with_name("original.csv"), table.with_name("hidden.csv")
    original.write_text("x,count\na,2\nb,8\nc,30\n")
    hidden.write_text("x,count\na,x\nb,x\nc,30\nTotal,40\n")
    ruled = answer(hidden, "--original", original, "--rule", "threshold=3")["criterion"]
    assert list(ruled["limits"]) == ["rules"]
    assert ruled["safe_means"].startswith("no sensitive figure worked out exactly, and the protection levels of ")
    assert "Safe means here only" in str(dc.audit(dc.read_release(table)))
    assert "Safe means here only" in dc.audit(dc.read_release(table))._repr_html_()


def test_groups_without_rows_below_them(tmp_path: Path) -> None:
    """North has people and no row for a or b: these are not published, not empty."""
    shown, tree = tmp_path / "g.csv", tmp_path / "g.hrc"
    tree.write_text("north\n@a\n@b\nsouth\n@c\n@d\n@e\n")
    shown.write_text("geo,count\nnorth,20\nsouth,30\nc,x\nd,x\nTotal,50\n")
    data = answer(shown, "--hierarchy", f"geo={tree}")
    assert {c["cell"]["geo"]: (c["lower"], c["upper"]) for c in data["cells"]} == {"c": (0, 30), "d": (0, 30)}
    asked = answer(shown, "--hierarchy", f"geo={tree}", "--about", "geo")
    found = {c["cell"]["geo"]: (c["lower"], c["upper"]) for c in asked["cells"]}
    # South has rows below it, so that e without one is empty.
    assert found == {"a": (0, 20), "b": (0, 20), "c": (0, 30), "d": (0, 30)}
    shown.write_text("geo,count\nnorth,20\nsouth,30\nc,10\nd,10\nTotal,50\n")
    message = refused(run("audit", shown, "--hierarchy", f"geo={tree}"))
    assert "'geo=south' is 30, but its cells sum to 20" in message
    assert "--absent unpublished" in message


def test_groups_that_no_hierarchy_names(tmp_path: Path) -> None:
    shown = tmp_path / "g.csv"
    shown.write_text("geo,count\nnorth,20\na,12\nb,8\nTotal,20\n")
    message = refused(run("audit", shown))
    assert "margin 'total' is 20, but its cells sum to 40" in message
    assert "some rows are groups of others, say which (--hierarchy)" in message
    assert "Parquet" in message


def test_an_insider_with_more_than_the_cell(tmp_path: Path) -> None:
    shown = tmp_path / "m.csv"
    shown.write_text("x,y,count\na,p,x\na,q,20\na,Total,25\nb,p,x\nb,q,4\nb,Total,9\n")
    message = refused(run("audit", shown, "--insider", "x=a,y=p:9"))
    assert "insider contributes 9 to cell x=a, y=p, which is at most 5 (" in message
    assert "25 − 20 = 5" in message
    shown.write_text("x,count\na,x\nb,x\nc,x\nTotal,10\n")
    message = refused(run("audit", shown, "--coalition", "x=a:6", "--coalition", "x=b:7"))
    assert "the statements about coalition (x=a: 6; x=b: 7) cannot all be true beside what is published" in message


def test_contributions_under_other_names(tmp_path: Path) -> None:
    shown, plain, own = tmp_path / "t.csv", tmp_path / "plain.csv", tmp_path / "own.csv"
    shown.write_text("x,value\n1,x\n2,x\nTotal,9\n")
    rows = "1,A,H,4\n2,B,H,1\n2,C,,2\n2,D,,2\n"
    plain.write_text("x,respondent,holding,value\n" + rows)
    own.write_text("x,id,group,turnover\n" + rows)
    names = ["--contributor", "id", "--contribution", "turnover", "--holding", "group"]
    assert answer(shown, "--contributions", own, *names) == answer(shown, "--contributions", plain)
    assert "name theirs (--contributor)" in refused(run("audit", shown, "--contributions", own))
    assert "name theirs (--contribution)" in refused(run("audit", shown, "--contributions", own, "--contributor", "id"))
    wrong = [*names[:-1], "firm"]
    assert "name theirs (--holding)" in refused(run("audit", shown, "--contributions", own, *wrong))
    assert "name it too (--contributions)" in refused(run("audit", shown, "--contributor", "id"))


def test_help_speaks_of_figures() -> None:
    text = " ".join(run("audit", "--help").out.replace("│", " ").split())
    assert "slices" not in text
    assert "one row per figure" in text


def test_a_reader_who_goes_away(table: Path) -> None:
    """A closed pipe is told by its own exit code, not by that of an unsafe release."""
    command = Path(sys.executable).with_name("discreet")
    for arguments in (["audit", str(table)], ["audit", str(table), "--json"], ["--help"]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([command, *arguments], stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (141, b"")


def test_programs_can_ask_for_the_figures_known_best(table: Path, tmp_path: Path) -> None:
    whole, best = answer(table), answer(table, "--top", 1)
    assert best.pop("not_shown") == 3
    assert best.pop("cells") == whole["cells"][:1]
    assert whole.pop("cells")
    assert best == whole
    assert answer(table, "--top", 9)["not_shown"] == 0
    # A file that is written beside it holds every figure, with its proof.
    written = tmp_path / "all.csv"
    assert len(answer(table, "--top", 1, "-o", written)["cells"]) == 1
    rows = rows_of(written)
    assert len(rows) == 4
    assert all(row["proof"] for row in rows)


def test_a_tabulation_is_no_release(tmp_path: Path) -> None:
    """It holds what is confidential; the audit of it as a release would be of something nobody reads."""
    records = tmp_path / "firms.csv"
    records.write_text("firm,area,turnover\n" + "".join(f"f{i},{'ns'[i % 2]},{i + 3}\n" for i in range(12)))
    table = tmp_path / "firms.parquet"
    by = ["--by", "area", "--value", "turnover", "--contributor", "firm"]
    assert run("tabulate", records, *by, "-o", table).code == 0
    for command in (["audit", table], ["ledger", "add", table, "--ledger", tmp_path / "l.sqlite"]):
        told = refused(run(*command))
        assert "not what is published" in told
        assert "discreet protect suppress" in told
    # What the message names works, and the tabulation is its original.
    release = tmp_path / "release.parquet"
    assert run("protect", "suppress", table, "--rule", "p=10", "-o", release).code == 0
    assert run("audit", release, "--original", table, "--rule", "p=10").code == 0
    whole = tmp_path / "release.csv"
    assert run("assess", table, "--as-is", "-o", whole, "--record", tmp_path / "r.json").code == 0
    assert run("ledger", "add", whole, "--ledger", tmp_path / "l.sqlite").code == 0


def test_a_crossing_with_a_dimension_that_no_table_shows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("activity,size,count\nA,s,5\nA,m,7\nB,s,2\nB,m,0\n", encoding="utf-8")
    found = json.loads(run("audit", path, "--about", "activity,owner=private+public", "--json").out)["cells"]
    assert sorted((c["cell"]["activity"], c["cell"]["owner"], c["upper"]) for c in found) == [
        *(("A", "private", 12), ("A", "public", 12)),
        *(("B", "private", 2), ("B", "public", 2)),
    ]
    assert "list its categories" in refused(run("audit", path, "--about", "activity,owner"))
    assert "has no category 'x'" in refused(run("audit", path, "--about", "size=s+x,owner=a+b"))


def test_what_only_levels_ask_for_is_named_in_words_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,count\nn,1\ns,20\nw,9\ne,8\n")
    given = ("--original", tmp_path / "t.csv", "--rule", "threshold=3")
    run("protect", "suppress", tmp_path / "t.csv", "--rule", "threshold=3", "-o", tmp_path / "r.csv")
    said = run("audit", tmp_path / "r.csv", "--verdict-only")
    assert (said.code, "--original and --rule" in said.err) == (2, True)
    assert run("audit", tmp_path / "r.csv", "--verdict-only", *given).out.startswith("safe")
