"""Files of others: nothing says whether zeros are hidden, or whether a category is a total, and nothing is guessed."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import refused, run

import discreet as dc
from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.decide.ledger import Ledger
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release
from discreet.table.unmarked_totals import ListedFigures, refuse_sums

AREAS = ["a", "b", "c", "Total"]


def test_hidden_figures_that_are_known_if_zeros_are_shown_are_not_called_safe() -> None:
    shown = Figures.from_array([None, None, 10, 12], {"area": AREAS})
    found = dc.audit(shown)
    assert found.verdict == "incomplete"
    assert found.counts == {"safe": 0, "unsafe": 0, "incomplete": 2}
    assert "say whether they are" in found.sentence
    # They are still said to be 0 or more: nobody knows that they are not.
    assert [(cell.lower, cell.upper) for cell in found.cells] == [(0, 2), (0, 2)]
    for least, verdict in ((0, "safe"), (1, "unsafe")):
        marked = Figures.from_array([None, None, 10, 12], {"area": AREAS}, mark=Kind("suppressed", least=least))
        assert dc.audit(marked).verdict == verdict


@pytest.mark.parametrize("seed", range(40))
def test_safe_holds_whether_zeros_are_shown_or_not(seed: int) -> None:
    """Enumerate every table that fits, under either convention."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 4, (2, 3))
    hidden = rng.random((2, 3)) < 0.7
    array = [
        [None if hide else int(n) for n, hide in zip(*rows, strict=True)] for rows in zip(truth, hidden, strict=True)
    ]
    rows = [[*line, int(truth[k].sum())] for k, line in enumerate(array)]
    rows.append([*map(int, truth.sum(axis=0)), int(truth.sum())])
    shown = Figures.from_array(rows, {"area": [*"ab", "Total"], "sex": [*"xyz", "Total"]})
    found = dc.audit(shown)
    if not hidden.any():
        return
    exact = set()
    for least in (0, 1):
        fit = [
            table
            for values in itertools.product(range(least, 10), repeat=3)
            for table in [_completed(np.array(values), truth)]
            if (table >= least)[hidden].all() and (table == truth)[~hidden].all() and (table >= 0).all()
        ]
        exact |= (
            {least}
            if any(len({t[cell] for t in fit}) == 1 for cell in zip(*np.nonzero(hidden), strict=True))
            else set()
        )
    assert found.verdict == ("unsafe" if 0 in exact else "incomplete" if 1 in exact else "safe")


def _completed(first: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the table with this first row and the sums of columns of another; its rows may not add up."""
    table = np.stack([first, truth.sum(axis=0) - first])
    return table if (table.sum(axis=1) == truth.sum(axis=1)).all() else np.full(truth.shape, -1)


def test_a_ledger_does_not_guess_either(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add(Release.of(Figures.from_array([5, 7, 12], {"sex": ["m", "f", "Total"]})), title="Sex", population="p")
    for mark, verdict in ((Kind("suppressed"), "incomplete"), (Kind("suppressed", least=0), "safe")):
        new = Release.of(Figures.from_array([None, None, 10, 12], {"area": AREAS}, mark=mark))
        found = ledger.check(new, population="p")
        assert found.verdict == verdict
        assert ("if zeros are always published, area=a is known" in found.sentence) == (verdict == "incomplete")


UNITED = "area,sex,count\nN,m,21\nN,f,33\nN,Total,54\nW,m,x\nW,f,x\nW,Total,7\nS,m,10\nS,f,13\nS,Total,23\n"


def test_a_total_of_another_name_is_not_taken_for_a_category(tmp_path: Path) -> None:
    file, flat = tmp_path / "t.csv", tmp_path / "flat.hrc"
    file.write_text(UNITED + "UK,m,34\nUK,f,50\nUK,Total,84\n")
    said = refused(run("audit", file))
    assert "category 'UK' of dimension 'area' may be the sum of all others" in said
    # Without any total, those of the sexes would be lost.
    assert "--part area=UK" in said
    assert "--hierarchy" in said
    assert "--total ''" not in said
    assert run("audit", file, "--part", "area=UK").code == 1
    flat.write_text("N\nW\nS\nUK\n")
    assert run("audit", file, "--hierarchy", f"area={flat}", "--least", "0").code == 0


def test_a_category_that_some_line_shows_to_be_no_total_is_none() -> None:
    line, sex = np.repeat([0, 1, 2, 3], 2), np.tile([0, 1], 4)
    labels = {"area": ["n", "w", "s", "big"]}
    values, shown = np.array([21, 33, 0, 4, 10, 13, 40, 49]), np.array([True] * 2 + [False] + [True] * 5)
    figures = ListedFigures({"area": line, "sex": sex}, labels, values, shown)
    refuse_sums(figures)
    with pytest.raises(DataError, match="category 'big' of dimension 'area' may be the sum"):
        refuse_sums(figures._replace(values=np.where(values == 49, 50, values)))


def test_levels_that_ask_for_nothing_are_refused() -> None:
    truth = dc.Table.from_array([[1, 4, 9], [6, 3, 11], [8, 12, 7]], {"area": list("nsw"), "sex": list("mfd")})
    release = dc.suppress(truth, "threshold=3").release
    with pytest.raises(RequestError, match="protection is -5; give 0 or more"):
        dc.audit(release, original=truth, protection=-5)
    with pytest.raises(RequestError, match="then, if at all, the least width"):
        dc.Limits(levels={(("area", "n"), ("sex", "m")): (1, 2, float("nan"))})
    with pytest.raises(RequestError, match="least is -inf; give a number"):
        dc.audit(release, least=float("-inf"))


MARKED = "area,count\nN,{}\nS,{}\nW,10\nV,0\nTotal,14\n"


def test_marks_that_differ_have_to_say_what_they_mean(tmp_path: Path) -> None:
    """If c hides 1 and 2 and x all else, c is 1 and x is 3; taken alike, each would be 1 to 3."""
    file = tmp_path / "t.csv"
    for marks in ("cx", "PS"):
        file.write_text(MARKED.format(*marks))
        named = [option for mark in marks for option in ("--mark", mark)] if marks == "PS" else []
        said = refused(run("audit", file, *named))
        one, other = marks
        assert f"--mark {one}=1..2 --mark {other}=3.." in said
        assert run("audit", file, "--mark", f"{one}=1..2", "--mark", f"{other}=3..").code == 1
        assert run("audit", file, "--mark", f"{one}=..", "--mark", f"{other}=..").code == 0
    assert [(cell.lower, cell.upper) for cell in dc.audit(dc.read_release(file, marks=["P=1..2", "S=3.."])).cells] == [
        (1, 1),
        (3, 3),
    ]


@pytest.mark.parametrize("mark", ["<5", "1-4", "≤4", "fewer than five", "[low]", "under 5"])
def test_a_mark_that_reads_like_a_statement_has_to_say_what_it_means(tmp_path: Path, mark: str) -> None:
    """Two hidden counts below 5 that add up to 8 are 4 each; taken for 0 or more, each would be 0 to 8."""
    file = tmp_path / "t.csv"
    file.write_text(f"area,count\nN,{mark}\nS,{mark}\nW,10\nTotal,18\n")
    assert "tells readers something about the figures that it hides" in refused(run("audit", file, "--mark", mark))
    assert run("audit", file, "--mark", f"{mark}=1..4").code == 1
    assert run("audit", file, "--mark", f"{mark}=..").code == 0


def test_decimals_that_are_zero_everywhere_are_none(tmp_path: Path) -> None:
    """Programs write counts beside gaps as 10.0; hidden ones are not tenths, but 1 and 1."""
    file = tmp_path / "t.csv"
    file.write_text("area,count\nN,\nS,\nW,10.0\nV,0.0\nTotal,12.0\n")
    found = dc.audit(dc.read_release(file, marks=[""]))
    assert (found.verdict, [(cell.lower, cell.upper) for cell in found.cells]) == ("unsafe", [(1, 1), (1, 1)])
    file.write_text("area,turnover\nN,\nS,\nW,10.5\nV,0.0\nTotal,12.5\n")
    assert [
        (cell.lower, cell.upper) for cell in dc.audit(dc.read_release(file, value="turnover", marks=[""])).cells
    ] == [
        (0.1, 1.9),
        (0.1, 1.9),
    ]


def test_figures_of_sdmx_are_in_one_unit(tmp_path: Path) -> None:
    """A figure in thousands is not the 3 that is printed, and its line adds up to something else."""
    file = tmp_path / "t.csv"
    file.write_text("DATAFLOW,AREA,OBS_VALUE,UNIT_MULT\nX,N,,0\nX,S,,0\nX,W,3,3\nX,V,0,0\nX,_T,3002,0\n")
    assert "UNIT_MULT is '0' and '3', so figures are not in one unit" in refused(run("audit", file))


def test_files_of_sdmx_in_thousands_are_joined_with_others_in_units(tmp_path: Path) -> None:
    """Of 5,000 people 4,991 are in r1, which another file prints in thousands: r2 and r3 share 9."""
    units, thousands = tmp_path / "units.csv", tmp_path / "thousands.csv"
    units.write_text("DATAFLOW,AREA,OBS_VALUE,UNIT_MULT\nX,_T,5000,0\nX,r2,,0\nX,r3,,0\n")
    thousands.write_text("DATAFLOW,AREA,OBS_VALUE,UNIT_MULT\nX,r1,4.991,3\n")
    read = [dc.read_release(file, least=1, absent="unpublished") for file in (units, thousands)]
    found = dc.audit(read, limits=dc.Limits(width=20))
    assert (found.verdict, [(cell.lower, cell.upper) for cell in found.cells]) == ("unsafe", [(1, 8), (1, 8)])
    told = run("audit", units, thousands, "--absent", "unpublished", "--least", 1, "--min-width", 20)
    assert (told.code, told.out.split()[0]) == (1, "unsafe")
    head = "DATAFLOW,AREA,OBS_VALUE,UNIT_MULT,LOWER_BOUND,UPPER_BOUND\n"
    thousands.write_text(f"{head}X,r1,,3: Thousands,1,2.5\nX,r2,,3: Thousands,,\nX,_T,30,3: Thousands,,\n")
    limits = [(cell.lower, cell.upper) for cell in dc.audit(dc.read_release(thousands)).cells]
    assert sorted(limits) == [(1000, 2500), (27_500, 29_000)]
    for rows, words in (
        ("X,r1,1 200,3,,\n", "shows 1 200, which cannot be multiplied by UNIT_MULT 3"),
        ("X,r1,12,k,,\n", "UNIT_MULT is 'k', not a power of ten"),
    ):
        thousands.write_text(head + rows)
        assert words in refused(run("audit", thousands))
    thousands.write_text("DATAFLOW,AREA,OBS_VALUE,UNIT_MULT,mean\nX,r1,12,3,2.5\nX,r2,15,3,3.5\n")
    assert "UNIT_MULT is 3, but what stands beside the figures is not multiplied" in refused(run("audit", thousands))


def test_files_of_sdmx_in_other_units_are_not_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, where the thousands are in the name of the unit: what that means, no audit knows."""
    monkeypatch.chdir(tmp_path)
    head = "DATAFLOW,AREA,OBS_VALUE,UNIT_MEASURE\n"
    Path("units.csv").write_text(f"{head}X,_T,5000,PS: Persons\nX,r1,,PS: Persons\nX,r2,,PS: Persons\n")
    Path("thousands.csv").write_text(f"{head}X,r1,4.991,THS_PS\nX,_T,,THS_PS\n")
    Path("same.csv").write_text(f"{head}X,r1,4991,PS\nX,r2,,PS\nX,_T,,PS\n")
    told = "are said to be in another unit (UNIT_MEASURE "
    assert told in refused(run("audit", "units.csv", "thousands.csv"))
    assert run("ledger", "add", "units.csv").code == 0
    assert told in refused(run("ledger", "check", "thousands.csv"))
    for command in (("audit", "units.csv", "same.csv"), ("ledger", "check", "same.csv")):
        assert (found := run(*command)).code == 1
        assert "= 9" in found.out


def test_flags_and_statuses_that_tell_hidden_figures_apart_are_marks(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("area,count,flag\nN,,P\nS,,S\nW,10,\nV,0,\nTotal,14,\n")
    bare = ("--dimensions", "area", "--mark", "")
    assert "column 'flag' is no dimension and tells hidden figures apart ('P' and 'S')" in refused(
        run("audit", file, *bare)
    )
    file.write_text("area,count,note\nN,,few people\nS,,\nW,10,\nV,0,\nTotal,14,\n")
    assert "tells hidden figures apart ('' and 'few people')" in refused(run("audit", file, *bare))
    names = file.with_name("names.csv")
    names.write_text(
        "area,name,sex,count\nN,North,m,\nN,North,f,\nS,South,m,\nS,South,f,\nW,West,m,1\nW,West,f,0\nTotal,All,m,9\nTotal,All,f,8\n"
    )
    assert dc.read_release(names, dimensions=["area", "sex"], marks=[""]).parts()[0].hidden.sum() == 4
    rows = "X,N,,{},{}\nX,S,,{},{}\nX,W,10,A,F\nX,V,0,A,F\nX,_T,14,A,F\n"
    head = "DATAFLOW,AREA,OBS_VALUE,OBS_STATUS,CONF_STATUS\n"
    for first, second in (("QA", "QD"), ("QC", "QD"), ("LC", "QC"), ("QA", "QA")):
        file.write_text(head + rows.format(*first, *second))
        assert "neither a number nor a suppression mark" in refused(run("audit", file))
    file.write_text(head + rows.format(*"QAQD"))
    assert run("audit", file, "--mark", "A=1..2", "--mark", "D=3..").code == 1
    file.write_text(head + rows.format(*"QCQC"))
    assert run("audit", file).code == 0


def test_what_sdmx_says_beside_hidden_figures_is_never_left_out(tmp_path: Path) -> None:
    """Of 12, one part hides fewer than 3; taken for any part of it, each would be 1 to 11."""
    file = tmp_path / "t.csv"
    head = "DATAFLOW,AREA,SEX,OBS_VALUE,OBS_STATUS,{}\n"
    rows = "X,N,m,{},Q,{}\nX,N,f,{},Q,{}\nX,N,_T,12,A,{}\nX,S,m,0,A,{}\nX,S,f,7,A,{}\nX,S,_T,7,A,{}\n"
    for name, texts in (
        ("COMMENT_OBS", ("fewer than 3 firms", "", "", "", "", "")),
        ("COMMENT_OBS", ("below 9", "below 9", "", "", "", "")),
        ("CONF_REASON", ("p", "s", "", "", "", "")),
        ("PRE_BREAK_VALUE", ("2", "", "11", "", "7", "7")),
        ("TURNOVER", ("2", "10", "12", "0", "7", "7")),
    ):
        file.write_text(head.format(name) + rows.format("", texts[0], "", *texts[1:]))
        said = refused(run("audit", file, "--least", "1"))
        assert f"t.csv: column {name!r}" in said
    # Hidden figures have another mark, and their statuses differ or do not.
    file.write_text(head.format("DECIMALS") + rows.format("NaN", 0, "NaN", *"00000").replace("f,NaN,Q", "f,NaN,D"))
    assert "the figure is 'NaN Q', neither" in refused(run("audit", file, "--least", "1", "--mark", "NaN"))
    assert run("audit", file, "--mark", "NaN D=..", "--mark", "NaN Q=..", "--least", "1").code == 0
    file.write_text(head.format("CONF_STATUS") + rows.format("NaN", "C", "NaN", *"CFFFF"))
    assert run("audit", file, "--least", "1", "--mark", "NaN").code == 0


def test_statuses_of_a_published_tab_file_do_not_tell_more(tmp_path: Path) -> None:
    truth = dc.Table.from_array([[1, 4, 9], [6, 3, 11], [8, 12, 7]], {"area": list("nsw"), "sex": list("mfd")})
    file = tmp_path / "t.tab"
    dc.suppress(truth, "threshold=3").release.write(file)
    assert run("audit", file).code == 0
    file.write_text(file.read_text().replace(";x;M", ";x;U", 1))
    assert "hidden figures have the statuses M and U" in refused(run("audit", file))


# --- releases of several rules -----------------------------------------------------------------------------------

HIDES = {"area": ["n", "s", "Total"], "age": ["y", "o", "Total"]}
SHOWS = {"region": ["a", "b", "Total"], "sex": ["m", "f", "Total"]}


def test_that_one_release_hides_zeros_says_nothing_about_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the two hidden counts of n is 0; those of a are 1 and 1 if zeros are always shown there."""
    hides = Figures.from_array([[None, None, 1], [40, 29, 69]], {**HIDES, "area": ["n", "s"]}, absent="unpublished")
    shows = Figures.from_array([[None, None, 2], [38, 30, 68]], {**SHOWS, "region": ["a", "b"]}, absent="unpublished")
    assert (dc.audit(hides).verdict, dc.audit(shows).verdict) == ("safe", "incomplete")
    together = dc.audit([hides, shows])
    assert together.verdict == "incomplete"
    assert "say whether they are" in together.sentence
    # All that is asked for its sake is within the time that there is.
    module, limits = sys.modules["discreet.auditing.audit"], list[float | None]()
    ask = dc.audit

    def timed(*given: Any, **how: Any) -> Any:
        limits.append(how.get("time_limit"))
        return ask(*given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(module, "audit", timed)
        assert ask([hides, shows], time_limit=300).verdict == "incomplete"
    assert len(limits) > 2
    assert None not in limits
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add(Release.of(hides), title="Hides", population="p")
    found = ledger.check(Release.of(shows), population="p")
    assert found.verdict == "incomplete"
    assert "if zeros are always published, region=a, sex=f is known" in found.sentence
    # The earlier release says by its own figures that it hides zeros.
    assert "retag" not in found.sentence
    for least, verdict in ((0, "safe"), (1, "unsafe")):
        assert ledger.check(Release.of(shows).marked(least), population="p").verdict == verdict
        assert dc.audit([hides, shows.marked(least)]).verdict == verdict


def test_what_marks_of_an_earlier_release_leave_open_is_said_by_retagging_it(tmp_path: Path) -> None:
    """The new release hides nothing; what its 2 tells about the earlier one depends on what that may hide."""
    old = Figures.from_array([None, None, 50], {"area": list("abc")}, absent="unpublished")
    tree = Hierarchy.from_parents([("a", "ab"), ("b", "ab"), ("c", None)])
    new = Release.of(Figures.from_array([2], {"area": ["ab"]}, hierarchies={"area": (tree,)}, absent="unpublished"))
    for least, verdict in ((0, "safe"), (1, "unsafe")):
        ledger = Ledger(tmp_path / f"{least}.sqlite")
        entry = ledger.add(Release.of(old), title="Old")
        asked = ledger.check(new, title="New")
        assert asked.verdict == "incomplete"
        assert f"(discreet ledger retag {entry.id} --least … --reason …)" in asked.sentence
        told = run("ledger", "retag", entry.id, "--least", least, "--reason", "left open", "--ledger", ledger.path)
        assert f"least not stated → {least}" in told.out
        assert ledger.check(new, title="New").verdict == verdict
        assert (ledger.entry("Old").least, ledger.entry("Old").amended[-1].least) == (least, None)
        assert len(ledger.verify().sentence) > 0
    with pytest.raises(RequestError, match="is 7; give 1 if they are above 0, or 0 if they can be 0"):
        ledger.retag("Old", least=7, reason="more")
    with pytest.raises(RequestError, match="says the same already"):
        ledger.retag("Old", least=1, reason="again")
    said = ledger.add(Release.of(old).marked(1), title="Said")
    with pytest.raises(RequestError, match="its marks say already what is at least behind them"):
        ledger.retag(said.id, least=0, reason="twice")
    none = ledger.add(Release.of(Figures.from_array([None, None, 1], {"x": ["u", "v", "Total"]})), title="None")
    with pytest.raises(InfeasibleError):
        ledger.retag(none.id, least=1, reason="one of them is 0")


def test_a_revision_is_not_called_safe_if_zeros_that_are_shown_would_tell(tmp_path: Path) -> None:
    """Both versions are safe alone, whatever is hidden; carried over, 29 for a row leaves 1 of each other count."""
    sides = {"area": [*"xyz", "Total"], "sex": [*"mfo", "Total"]}
    first, final = (
        Figures.from_array(
            [*([None, None, n, None] for n in (38, middle, 20)), [None, None, middle + 58, whole]], sides
        )
        for middle, whole in ((23, 91), (27, 95))
    )
    for least, verdict in ((None, "incomplete"), (0, "safe"), (1, "unsafe")):
        old, new = (Release.of(one.marked(least)) for one in (first, final))
        assert {dc.audit(one).verdict for one in (old, new)} == {"safe"}
        ledger = Ledger(tmp_path / f"{least}.sqlite")
        ledger.add(old, title="First", population="p", period="2024")
        found = ledger.check(new, title="Final", revises="First", threshold=None, population="p", period="2024")
        assert found.verdict == verdict
        assert ("retag" in found.sentence) == (least is None)
