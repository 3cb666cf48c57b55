"""``discreet ledger``: add, list, check and withdraw, with exit codes and clear refusals."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.running import refused, run, start

OLD = "area,age,count\nn,0-4,29\nn,5-9,36\ns,0-4,31\ns,5-9,39\n"
NEW = "area,age,count\nn,0-5,33\nn,6-9,32\ns,0-5,49\ns,6-9,21\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)
    Path("old.csv").write_text(OLD, encoding="utf-8")
    Path("new.csv").write_text(NEW, encoding="utf-8")
    return tmp_path


def test_a_split_age_band_is_found_and_explained(folder: Path) -> None:
    added = run("ledger", "add", "old.csv", "--title", "Fives", "--json")
    assert added.code == 0
    entry = json.loads(added.out)
    assert (entry["title"], entry["figures"], entry["dimensions"]) == ("Fives", 4, ["area", "age"])
    checked = run("ledger", "check", "new.csv", "--json", "-o", "check.json")
    assert checked.code == 1
    data = json.loads(checked.out)
    assert data == json.loads(Path("check.json").read_text(encoding="utf-8"))
    assert data["verdict"] == "unsafe"
    assert [(f["cell"], f["lower"], f["exact"]) for f in data["findings"]] == [({"area": "n", "age": "5"}, 4, True)]
    assert data["findings"][0]["subtraction"].endswith("36 − 32 = 4")
    face = run("ledger", "check", "new.csv")
    assert face.code == 1
    assert "unsafe" in face.out
    assert "36 − 32 = 4" in " ".join(face.out.split())
    # Checking added nothing.
    assert len(json.loads(run("ledger", "list", "--json").out)["releases"]) == 1


def test_a_clean_release_passes_and_is_listed(folder: Path) -> None:
    Path("total.csv").write_text("area,count\nn,65\ns,70\n", encoding="utf-8")
    run("ledger", "add", "old.csv", "--published", "2024-05-31", "--population", "children", "--period", "2024")
    clean = run("ledger", "check", "total.csv", "--population", "children", "--period", "2024")
    assert (clean.code, "safe" in clean.out) == (0, True)
    listed = run("ledger", "list").out
    assert "2024-05-31" in listed
    assert "children, 2024" in listed


def test_withdrawing(folder: Path) -> None:
    name = json.loads(run("ledger", "add", "old.csv", "--json").out)["id"]
    done = run("ledger", "withdraw", name[:6], "--reason", "a draft", "--unseen", "--json")
    assert (done.code, json.loads(done.out)["status"]) == (0, "withdrawn, nobody saw it")
    assert run("ledger", "check", "new.csv").code == 0
    assert "was withdrawn on" in refused(run("ledger", "withdraw", name, "--reason", "again"))
    assert "--reason is missing" in refused(run("ledger", "withdraw", name))


def test_rounded_releases_say_so(folder: Path) -> None:
    Path("r.csv").write_text("size,count\ns,3\nm,9\n", encoding="utf-8")
    Path("e.csv").write_text("size,count\ns,4\nm,9\n", encoding="utf-8")
    assert run("ledger", "add", "r.csv", "--published-as", "random base=3").code == 0
    exact = run("ledger", "check", "e.csv", "--json")
    assert exact.code == 1
    assert {f["lower"] for f in json.loads(exact.out)["findings"]} == {4, 9}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "new.csv"], "there is no ledger ledger.sqlite"),
        (["list"], "there is no ledger ledger.sqlite"),
        (["add", "gone.csv"], "gone.csv"),
        (["add", "old.csv", "--published", "May"], "write it as 2024-05-31"),
        (["add", "old.csv", "--original", "gone.csv"], "there is no original gone.csv"),
        (["add", "old.csv", "--published-as", "guessed"], "there is no kind of figure 'guessed'"),
        (["add", "old.csv", "--hierarchy", "area"], "region=nuts.hrc"),
        (["add", "old.csv", "--ledger", "no/where.sqlite"], "is not a folder"),
        (["add", "old.csv", "--ledger", "old.csv"], "not a ledger, or is damaged"),
        (["check", "new.csv", "-o", "x.pdf"], "is not written"),
    ],
)
def test_bad_requests(folder: Path, arguments: list[str], message: str) -> None:
    assert message in refused(run("ledger", *arguments))
    assert not (folder / "ledger.sqlite").exists() or not json.loads(run("ledger", "list", "--json").out)["releases"]


def test_bad_limits(folder: Path) -> None:
    run("ledger", "add", "old.csv")
    assert "it is 0 or more" in refused(run("ledger", "check", "new.csv", "--min-width", "-1"))
    assert "it is above 0" in refused(run("ledger", "check", "new.csv", "--max-dr", "0"))


def test_a_newer_ledger(folder: Path) -> None:
    run("ledger", "add", "old.csv")
    db = sqlite3.connect("ledger.sqlite")
    db.execute("PRAGMA user_version=7")
    db.commit()
    db.close()
    assert "written by a newer discreet (version 7" in refused(run("ledger", "check", "new.csv"))


def test_the_installed_command_and_its_environment(folder: Path) -> None:
    done = start("ledger", "add", "old.csv", DISCREET_LEDGER=str(folder / "office.sqlite"))
    assert done.code == 0
    assert (folder / "office.sqlite").exists()
    assert start("ledger", "check", "new.csv", DISCREET_LEDGER=str(folder / "office.sqlite")).code == 1


def test_a_missing_period_and_foreign_categories(folder: Path) -> None:
    Path("city.csv").write_text("geo,count\ncity,30\nTotal,100\n", encoding="utf-8")
    Path("wide.csv").write_text("geo,count\nwide,32\nTotal,100\n", encoding="utf-8")
    Path("geo.hrc").write_text("wide\n@city\n@suburb\noutside\n", encoding="utf-8")
    options = ["--hierarchy", "geo=geo.hrc", "--absent", "unpublished"]
    assert run("ledger", "add", "city.csv", *options).code == 0
    checked = run("ledger", "check", "wide.csv", "--period", "2024", *options)
    text = " ".join(checked.out.split())
    assert (checked.code, "32 − 30 = 2" in text) == (1, True)
    assert "«city» states no period and was taken to be about the same (2024)" in text
    Path("zone.csv").write_text("geo,count\ncoast,35\nland,65\n", encoding="utf-8")
    foreign = run("ledger", "check", "zone.csv")
    assert (foreign.code, foreign.out.split()[0]) == (1, "incomplete")
    assert "dimension geo has other categories in «city»" in " ".join(foreign.out.split())


def test_a_reader_of_one_earlier_release(folder: Path) -> None:
    assert run("ledger", "add", "old.csv", "--title", "Fives").code == 0
    Path("sexes.csv").write_text("sex,count\nf,70\nm,65\n", encoding="utf-8")
    assert run("ledger", "add", "sexes.csv").code == 0
    both = json.loads(run("ledger", "check", "new.csv", "--json").out)
    one = run("ledger", "check", "new.csv", "--beside", "Fives", "--json")
    assert one.code == 1
    data = json.loads(one.out)
    assert data["findings"] == both["findings"]
    assert (data["left_out"], both["left_out"]) == (1, 0)
    other = run("ledger", "check", "new.csv", "--beside", "sexes")
    assert (other.code, other.out.split()[0]) == (0, "safe")
    assert "1 release of the ledger was left out" in " ".join(other.out.split())
    assert "no release 'Tens'" in refused(run("ledger", "check", "new.csv", "--beside", "Tens"))


def test_sums_of_streets(folder: Path) -> None:
    Path("north.csv").write_text("area,sex,count\nnorth,m,21\nnorth,f,30\n", encoding="utf-8")
    Path("coast.csv").write_text("area,sex,count\ncoast,m,20\ncoast,f,28\n", encoding="utf-8")
    Path("north.hrc").write_text("north\n@s1\n@s2\n@s3\n@s4\n", encoding="utf-8")
    Path("coast.hrc").write_text("coast\n@s1\n@s2\ns3\ns4\n", encoding="utf-8")
    unpublished = ["--absent", "unpublished"]
    assert run("ledger", "add", "north.csv", "--hierarchy", "area=north.hrc", *unpublished).code == 0
    checked = run("ledger", "check", "coast.csv", "--hierarchy", "area=coast.hrc", *unpublished, "--json")
    assert checked.code == 1
    data = json.loads(checked.out)
    assert {(f["cell"]["area"], f["cell"]["sex"], f["lower"]) for f in data["findings"]} == {
        ("s3 + s4", "m", 1),
        ("s3 + s4", "f", 2),
    }
    assert [unit["area"] for unit in data["findings"][0]["units"]] == ["s3", "s4"]
    assert data["findings"][0]["subtraction"].endswith("21 − 20 = 1")


@pytest.mark.parametrize("threshold", [[], ["--threshold", "0"]])
def test_tables_that_cross(folder: Path, threshold: list[str]) -> None:
    Path("sizes.csv").write_text("activity,size,count\na1,s1,1\na1,s2,5\n", encoding="utf-8")
    Path("regions.csv").write_text("activity,region,count\na1,r1,6\na1,r2,0\n", encoding="utf-8")
    assert run("ledger", "add", "sizes.csv", "--published-as", "exact").code == 0
    checked = run("ledger", "check", "regions.csv", "--json", *threshold)
    assert checked.code == 1
    found = {tuple(f["cell"].values()): (f["lower"], f["sensitive"]) for f in json.loads(checked.out)["findings"]}
    assert found["a1", "s1", "r1"] == (1, True)
    assert found["a1", "s1", "r2"] == (0, False)


def test_parts_of_a_population(folder: Path) -> None:
    Path("wide.csv").write_text("area,count\nn,65\ns,89\nTotal,154\n", encoding="utf-8")
    Path("narrow.csv").write_text("area,count\nn,64\ns,89\nTotal,153\n", encoding="utf-8")
    assert run("ledger", "add", "wide.csv", "--population", "residents").code == 0
    message = refused(run("ledger", "check", "narrow.csv", "--population", "residents"))
    assert "area=n is 64 in «narrow», but 65 in «wide»" in message
    assert "--population 'residents > 18+'" in message
    checked = run("ledger", "check", "narrow.csv", "--population", "residents > 18+")
    assert (checked.code, checked.out.split()[0]) == (1, "unsafe")
    assert "65 − 64 = 1" in " ".join(checked.out.split())


def test_a_total_of_a_part_has_a_code_that_is_named(folder: Path) -> None:
    Path("all.csv").write_text("region,count\ne1,40\ne2,50\nw,7\nTotal,97\n", encoding="utf-8")
    Path("east.csv").write_text("region,count\ne1,40\ne2,50\nEast,90\n", encoding="utf-8")
    assert run("ledger", "add", "all.csv").code == 0
    assert run("ledger", "check", "east.csv", "--part", "region=East").code == 0
    assert "name one of these" in refused(run("ledger", "check", "all.csv", "--part", "region=West"))
    everybody = refused(run("ledger", "check", "all.csv", "--part", "region=Total"))
    assert "'Total' is the code of everybody; give the total of some categories a code of its own" in everybody
    Path("total.csv").write_text("region,count\nTotal,93\n", encoding="utf-8")
    assert run("ledger", "add", "east.csv", "--part", "region=East", "--ledger", "east.sqlite").code == 0
    checked = run("ledger", "check", "total.csv", "--ledger", "east.sqlite")
    assert (checked.code, "93 − 40 − 50 = 3" in checked.out) == (1, True)


def test_a_revision_and_a_policy(folder: Path) -> None:
    first = "size,count\ns,x\nm,x\nl,30\nxl,40\nxxl,50\nTotal,130\n"
    final = "size,count\ns,2\nm,x\nl,x\nxl,40\nxxl,52\nTotal,132\n"
    Path("first.csv").write_text(first, encoding="utf-8")
    Path("final.csv").write_text(final, encoding="utf-8")
    assert run("ledger", "add", "first.csv", "--period", "2024").code == 0
    assert "--revises ID" in refused(run("ledger", "check", "final.csv", "--period", "2024"))
    checked = run("ledger", "check", "final.csv", "--period", "2024", "--revises", "first", "--json")
    assert checked.code == 1
    assert {f["cell"]["size"]: f["lower"] for f in json.loads(checked.out)["findings"]} == {"s": 2, "m": 8, "l": 30}
    added = run("ledger", "add", "final.csv", "--period", "2024", "--revises", "first", "--json")
    assert len(json.loads(added.out)["revises"]) == 1
    safe = run("ledger", "check", "old.csv", "--policy", "census", "--json")
    data = json.loads(safe.out)
    assert (safe.code, data["policy"]) == (0, "census")
    assert "no count from 1 to 2" in data["meaning"]
    shown = " ".join(run("ledger", "check", "old.csv").out.split())
    assert "Safe means, against a reader of these releases: every figure that a release hides (possibly a 0" in shown
    both = refused(run("ledger", "check", "old.csv", "--policy", "census", "--threshold", "5"))
    assert "threshold is given beside a policy" in both


def test_true_tables_say_what_a_revision_corrects(folder: Path) -> None:
    tables = {"first": (4, 6, 7, 9), "final": (5, 6, 8, 11)}
    for title, (a, b, c, d) in tables.items():
        rows = ("a", "v", a), ("a", "w", b), ("b", "v", c), ("b", "w", d)
        truth = ["area,size,count", *(f"{area},{size},{n}" for area, size, n in rows)]
        Path(f"{title}_true.csv").write_text("\n".join(truth) + "\n", encoding="utf-8")
        totals = ("a", "Total", a + b), ("b", "Total", c + d), ("Total", "v", a + c), ("Total", "w", b + d)
        shown = ["area,size,count", *(f"{area},{size},x" for area, size, _ in rows)]
        shown += [f"{area},{size},{n}" for area, size, n in (*totals, ("Total", "Total", a + b + c + d))]
        Path(f"{title}.csv").write_text("\n".join(shown) + "\n", encoding="utf-8")
    own = ("--ledger", "own.sqlite")
    assert run("ledger", "add", "first.csv", *own).code == 0
    asked = ("ledger", "check", "final.csv", "--revises", "first", "--fewest", "1", *own)
    open_ = run(*asked, "--json")
    assert (open_.code, json.loads(open_.out)["verdict"]) == (1, "incomplete")
    assert "--original" in " ".join(json.loads(open_.out)["unjudged"])
    known = ("--original", "final_true.csv", "--original", "first=first_true.csv")
    assert json.loads(run(*asked, *known, "--json").out)["verdict"] == "safe"
    assert "give it too (--original ID=FILE)" in refused(run(*asked, *known[:2]))
    assert "is given two originals" in refused(run(*asked, *known, "--original", "first=final_true.csv"))
    assert "the original of «first»: cell" in refused(run(*asked, *known[:2], "--original", "first=final_true.csv"))


def test_what_a_mark_means_and_what_is_least(folder: Path) -> None:
    """The three hidden ones share a total of 3: by the zero that is shown, by --least, or by what the mark means."""
    Path("row.csv").write_text("x,count\na,c\nb,c\nd,c\ne,10\nTotal,13\n", encoding="utf-8")
    Path("zero.csv").write_text("x,count\na,c\nb,c\nd,c\ne,10\nf,0\nTotal,13\n", encoding="utf-8")
    Path("old.csv").write_text("y,count\nu,7\n", encoding="utf-8")
    assert run("ledger", "add", "old.csv").code == 0

    def found(*arguments: str) -> list[int]:
        return [f["lower"] for f in json.loads(run("ledger", "check", *arguments, "--json").out)["findings"]]

    assert found("row.csv") == []
    assert found("row.csv", "--least", "1") == [1, 1, 1]
    assert found("row.csv", "--mark", "c=1..7") == [1, 1, 1]
    assert found("zero.csv") == [1, 1, 1]
    assert found("zero.csv", "--least", "0") == []
    # What is added keeps what it says of hidden figures.
    assert run("ledger", "add", "row.csv", "--mark", "c=1..7").code == 0
    Path("total.csv").write_text("x,count\nTotal,13\n", encoding="utf-8")
    checked = json.loads(run("ledger", "check", "total.csv", "--absent", "unpublished", "--json").out)
    assert [(f["lower"], f["cause"]) for f in checked["findings"]] == [(1, "before")] * 3
    assert "--least is '-1'" in refused(run("ledger", "check", "row.csv", "--least", "-1"))


def test_retagging(folder: Path) -> None:
    assert run("ledger", "add", "old.csv", "--title", "Fives").code == 0
    Path("later.csv").write_text(OLD.replace("29", "41").replace("39", "58"), encoding="utf-8")
    told = refused(run("ledger", "check", "later.csv", "--period", "2024"))
    assert "discreet ledger retag ID --reason" in told
    done = run("ledger", "retag", "Fives", "--period", "2023", "--reason", "left out", "--who", "Ann")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "period not stated → 2023" in text
    assert "left out" in text
    assert run("ledger", "check", "later.csv", "--period", "2024").code == 0
    (entry,) = json.loads(run("ledger", "list", "--json").out)["releases"]
    assert (entry["period"], entry["status"], entry["amended"][0]["who"]) == ("2023", "published", "Ann")
    assert "says the same already" in refused(run("ledger", "retag", "Fives", "--period", "2023", "--reason", "x"))
    assert "--reason is missing" in refused(run("ledger", "retag", "Fives", "--period", "2022"))


def test_what_was_not_judged_is_in_the_verdict(folder: Path) -> None:
    Path("amounts.csv").write_text("area,turnover\nn,290\ns,310\n", encoding="utf-8")
    assert run("ledger", "add", "amounts.csv", "--variable", "turnover", "--value", "turnover").code == 0
    options = ["--variable", "turnover", "--value", "turnover", "--policy", "business"]
    checked = run("ledger", "check", "amounts.csv", *options)
    assert (checked.code, checked.out.split()[0]) == (1, "incomplete")
    assert "Not judged: policy business asks who contributed to amounts" in " ".join(checked.out.split())
    Path("men.csv").write_text("area,count\nn,651\ns,890\n", encoding="utf-8")
    Path("women.csv").write_text("area,count\nn,640\ns,889\n", encoding="utf-8")
    assert run("ledger", "add", "men.csv", "--population", "men").code == 0
    doubt = run("ledger", "check", "women.csv", "--population", "women")
    assert (doubt.code, "--population 'women | men'" in " ".join(doubt.out.split())) == (1, True)
    assert run("ledger", "check", "women.csv", "--population", "women | men").code == 0


def test_amounts_are_judged_beside_numbers(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("area,count\nn,2\ns,40\nTotal,42\n")
    turnover = "area,size,value\nn,small,x\nn,large,x\nn,Total,500\ns,small,300\ns,large,900\ns,Total,1200\n"
    (tmp_path / "turnover.csv").write_text(turnover + "Total,Total,1700\n")
    book = ["--ledger", str(tmp_path / "book.sqlite"), "--population", "firms"]
    run("ledger", "add", tmp_path / "firms.csv", "--published-as", "exact", *book)
    check = ["ledger", "check", tmp_path / "turnover.csv", *book, "--variable", "turnover", "--json"]
    done = run(*check, "--least", "1")
    found = json.loads(done.out)
    assert done.code == 1
    assert (found["verdict"], [one["title"] for one in found["beside"]]) == ("unsafe", ["firms"])
    assert [one["lower"] for one in found["findings"]] == [1, 1]
    # Where hidden amounts may be 0, readers reason case by case.
    done = run(*check)
    assert (done.code, json.loads(done.out)["verdict"]) == (1, "incomplete")
    told = refused(run("audit", tmp_path / "firms.csv", tmp_path / "turnover.csv"))
    assert "holds 'count' and" in told
    assert "ledger check --variable" in told


def test_what_may_be_the_original_is_not_added_as_published(folder: Path) -> None:
    areas = {"n": (812, 145, 31), "s": (640, 98, 2), "e": (455, 61, 14), "w": (390, 73, 12)}
    rows = [f"{area},{kind},{n}" for area, counts in areas.items() for kind, n in zip("abc", counts, strict=True)]
    Path("t.csv").write_text("\n".join(["area,kind,count", *rows]) + "\n", encoding="utf-8")
    told = refused(run("ledger", "add", "t.csv", "--ledger", "new.sqlite"))
    assert "t.csv shows 1 count of 1 or 2 (area=s, kind=c is 2)" in told
    assert not Path("new.sqlite").exists()
    # Either remedy works: what was made of it, or the word that this is what was published.
    assert run("protect", "suppress", "t.csv", "--rule", "threshold=3", "-o", "made.csv").code == 0
    assert run("ledger", "add", "made.csv", "--ledger", "new.sqlite").code == 0
    checked = run("ledger", "check", "t.csv", "--ledger", "new.sqlite", "--period", "2030")
    assert "«t» itself shows 1 count of 1 or 2 (area=s, kind=c is 2), which is not judged here" in " ".join(
        checked.out.split()
    )
    assert run("ledger", "add", "t.csv", "--published-as", "exact", "--ledger", "other.sqlite").code == 0
    # Larger counts, and amounts, are added as they always were.
    Path("large.csv").write_text("area,count\nn,80\ns,90\n", encoding="utf-8")
    assert run("ledger", "add", "large.csv", "--ledger", "large.sqlite").code == 0
    assert run("ledger", "add", "t.csv", "--variable", "turnover", "--ledger", "amounts.sqlite").code == 0


def test_a_table_in_python_may_be_the_original_too(folder: Path) -> None:
    import discreet as dc

    table = dc.Table.from_array([80, 2, 90], ["area"])
    table.write("t.csv")
    book = dc.Ledger("book.sqlite")
    for original in (table, "t.csv", table.to_frame()):
        with pytest.raises(dc.RequestError, match=r"1 count of 1 or 2 .*exact=True"):
            book.add(original, title="t")
    with pytest.raises(dc.RequestError, match=r"no release \(int\); give a release, or a file or frame of one"):
        book.add(5, title="t")
    assert not book.entries()
    assert "itself shows 1 count of 1 or 2" in book.check(table, title="t").sentence
    book.add(dc.protect.random_rounding(table, seed=2**100), title="rounded")
    book.add(table, title="t", exact=True, population="others")
