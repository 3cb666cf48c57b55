"""Zeros that are in print: no mark stands for one, every reader knows it, and suppression is safe against that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.cli.running import refused, rows_of, run
from tests.lengths import few_or_long

import discreet as dc
from discreet.core.errors import InfeasibleError, RequestError
from discreet.core.numerics import IntArray
from discreet.evaluate.audited_suppression import inspect
from discreet.protect import Wish
from discreet.protect.suppression.suppression import marked
from discreet.rules import Threshold
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release_reader import release_from_frame
from discreet.table.tabulation import Tabulation

ROW = {"a": 1, "b": 1, "c": 1, "d": 10, "e": 0}
WELL = (20, 31, 14, 22, 18, 25, 19, 40, 33, 27)


def row() -> dc.Table:
    return dc.Table.from_array(list(ROW.values()), {"x": list(ROW)})


def write(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def row_file(tmp_path: Path) -> Path:
    return write(tmp_path / "row.csv", "x,count", [f"{label},{count}" for label, count in ROW.items()])


# --- three ones in a row ------------------------------------------------------------------------------------------


def test_three_ones_are_not_left_alone_behind_their_marks() -> None:
    found = dc.suppress(row(), Threshold(3))
    shown = found.release.parts()[0]
    hidden = {shown.labels["x"][int(code)] for code in shown.codes[shown.hidden, 0]}
    assert {"a", "b", "c"} < hidden
    assert {kind.to_dict()["least"] for kind in shown.kinds if kind.hidden} == {1}
    seen = dc.audit(found.release, proofs=0)
    assert seen.verdict == "safe"
    assert all((cell.lower, cell.upper) != (0, 3) and cell.lower >= 1 and cell.values > 1 for cell in seen.cells)


def test_the_pattern_that_hides_the_ones_alone_is_called_unsafe() -> None:
    method = dc.protect.Suppression(Threshold(3))
    pattern = method.pattern(row())
    alone = replace(pattern, hidden=pattern.problem.on.primary.copy())
    release = marked(method, alone).release
    assert inspect(alone, release).verdict == "unsafe"
    cells = dc.audit(release).cells
    assert {(cell.name, cell.lower, cell.upper) for cell in cells} == {(f"x={x}", 1.0, 1.0) for x in "abc"}


def test_three_ones_on_the_command_line(row_file: Path, tmp_path: Path) -> None:
    out, intervals = tmp_path / "release.csv", tmp_path / "intervals.csv"
    assert run("protect", "suppress", row_file, "--rule", "threshold=3", "-o", out).code == 0
    marked = {line["x"] for line in rows_of(out) if line["count"] == "x"}
    assert {"a", "b", "c"} < marked
    assert {line["published_as"] for line in rows_of(out) if line["count"] == "x"} == {
        f"suppressed least=1 rows={len(rows_of(out))}"
    }
    made = run("protect", "suppress", row_file, "--rule", "threshold=3", "--as", "intervals", "-o", intervals)
    assert made.code == 0
    ends = {line["x"]: (line["lower"], line["upper"]) for line in rows_of(intervals) if line["lower"]}
    assert ends
    assert all(pair != ("0", "3") and int(pair[0]) >= 1 for pair in ends.values())
    judged = run("audit", out, "--original", row_file, "--rule", "threshold=3")
    assert judged.code == 0, judged.out


def test_a_least_of_one_can_be_said_and_more_where_it_holds(row_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "release.csv"
    assert run("protect", "suppress", row_file, "--rule", "threshold=3", "--least", "1", "-o", out).code == 0
    assert all(cell.lower >= 1 for cell in dc.audit(dc.read_release(out)).cells)
    assert dc.suppress(row(), Threshold(3), least=1).audit.verdict == "safe"
    larger = dc.Table.from_array([3, 4, 20, 30], {"x": list("abcd")})
    shown = dc.suppress(larger, Threshold(5), least=3).release.parts()[0]
    assert {kind.to_dict()["least"] for kind in shown.kinds if kind.hidden} == {3}
    with pytest.raises(RequestError, match=r"at least 4, but cell x=a is 3; give a smaller least"):
        dc.suppress(larger, Threshold(5), least=4)
    with pytest.raises(RequestError, match=r"zeros may be hidden; let zeros be published"):
        dc.suppress(larger, Threshold(5), least=1, zeros="suppressible")


@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_what_a_mark_says_is_read_back(name: str, tmp_path: Path) -> None:
    found = dc.suppress(row(), Threshold(3))
    found.release.write(tmp_path / name)
    again = dc.read_release(tmp_path / name)
    before, after = ({c.name: (c.lower, c.upper) for c in dc.audit(r).cells} for r in (found.release, again))
    assert before == after
    assert {lower for lower, _ in after.values()} == {1.0}


@pytest.mark.parametrize("form", ["intervals", "synthetic"])
@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_what_stands_in_place_of_a_mark_says_the_same(form: Any, name: str, row_file: Path, tmp_path: Path) -> None:
    out = tmp_path / name
    assert run("protect", "suppress", row_file, "--rule", "threshold=3", "--as", form, "-o", out).code == 0
    made = dc.suppress(row(), Threshold(3), form=form)
    expected = {f"x={x}": (1.0, 10.0) for x in "abcd"}
    for release in (made.release, dc.read_release(out)):
        assert {cell.name: (cell.lower, cell.upper) for cell in dc.audit(release).cells} == expected
    # The audit by the rules agrees with the one that let it out.
    judged = run("audit", out, "--original", row_file, "--rule", "threshold=3")
    assert judged.code == 0, judged.out


# --- releases of others -------------------------------------------------------------------------------------------


def test_marks_of_other_releases_say_what_they_are_told_to(tmp_path: Path) -> None:
    marked = write(tmp_path / "marks.csv", "x,count", ["a,c", "b,c", "d,c", "Total,21"])
    seven = dc.read_release(marked, marks=["c=1..7"])
    assert {(cell.lower, cell.upper) for cell in dc.audit(seven).cells} == {(7.0, 7.0)}
    told = run("audit", marked, "--mark", "c=1..7")
    assert told.code == 1
    assert "3 values are determined exactly" in told.out
    assert run("audit", marked, "--mark", "c").code == 0


def test_a_least_of_other_releases_is_said(tmp_path: Path) -> None:
    marked = write(tmp_path / "marks.csv", "x,count", ["a,c", "b,c", "d,c", "Total,3"])
    assert {cell.values for cell in dc.audit(dc.read_release(marked, marks=["c"], least=1)).cells} == {1}
    told = run("audit", marked, "--mark", "c", "--least", "1")
    assert told.code == 1
    assert "3 values are determined exactly" in told.out
    assert run("audit", marked, "--mark", "c", "--least", "0").code == 0
    assert run("audit", marked, "--mark", "c").out.startswith("incomplete")
    # A zero in print says of the marks beside it that they are none.
    zero = write(tmp_path / "zero.csv", "x,count", ["a,c", "b,c", "d,c", "e,0", "Total,3"])
    assert run("audit", zero, "--mark", "c").code == 1


def test_a_zero_that_is_shown_says_the_same_in_python() -> None:
    labels = {"x": [*ROW, "Total"]}
    counts = [None, None, None, 10, 0, 13]
    frame = pd.DataFrame({**labels, "count": ["x" if n is None else str(n) for n in counts]})
    for shown in (Figures.from_array(counts, labels), release_from_frame(frame)):
        assert {(cell.lower, cell.upper) for cell in dc.audit(shown).cells} == {(1, 1)}
    hides = Kind("suppressed", least=0)
    for shown in (Figures.from_array(counts, labels, mark=hides), release_from_frame(frame, least=0)):
        found = dc.audit(shown)
        assert {(cell.lower, cell.upper) for cell in found.cells} == {(0, 3)}
        assert "can be 0" not in found.sentence


def test_where_nothing_says_whether_zeros_are_hidden_the_verdict_says_so(tmp_path: Path) -> None:
    marked = write(tmp_path / "marks.csv", "x,count", ["a,x", "b,x", "c,x", "d,10", "Total,13"])
    told = run("audit", marked)
    assert told.code == 1
    assert told.out.startswith("incomplete")
    said = " ".join(told.out.split())
    assert "Nothing says whether hidden figures can be 0" in said
    assert "--least 1" in said
    for least in ("0", "1"):
        assert "Nothing says" not in run("audit", marked, "--least", least).out
    assert "can be 0" in dc.audit(dc.read_release(marked)).sentence


def test_an_assessment_knows_by_its_policy_that_zeros_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = write(tmp_path / "row.csv", "x,count", ["a,1", "b,1", "c,1", "d,10"])
    marked = write(tmp_path / "marks.csv", "x,count", ["a,x", "b,x", "c,x", "d,10", "Total,13"])
    policy = write(tmp_path / "only.toml", ONLY, [])
    found = run("assess", table, "--released", marked, "--policy", policy, "--record", "row.record.json")
    assert found.code == 1
    assert "3 of the 3 hidden or changed cells can be worked out exactly" in " ".join(found.out.split())
    assert run("replay", "row.record.json").code == 0
    counts = dc.read_table(table)
    judged = dc.assess(counts, dc.Policy.from_text(ONLY), protection=dc.read_release(marked))
    assert judged.verdict == "withhold"
    assert {cell["lower"] for cell in judged.cells(None)} == {1}
    # A mark can stand for 0 where the release says so, and where one does.
    open_ = dc.assess(counts, dc.Policy.from_text(ONLY), protection=dc.read_release(marked, least=0))
    assert {cell["lower"] for cell in open_.cells(None)} == {0}
    zero = dc.Table.from_array([1, 1, 0, 10], {"x": list("abcd")})
    marks = write(tmp_path / "zero.csv", "x,count", ["a,x", "b,x", "c,x", "d,10", "Total,12"])
    hidden = dc.assess(zero, dc.Policy.from_text(ONLY), protection=dc.read_release(marks))
    assert {cell["lower"] for cell in hidden.cells(None)} == {0}


def test_marks_that_may_stand_for_zeros_say_so(tmp_path: Path) -> None:
    table = dc.Table.from_array([[1, 0, 9], [0, 1, 9], [9, 9, 9]], {"r": list("abc"), "c": list("xyz")})
    found = dc.suppress(table, Threshold(2), zeros="suppressible")
    # Whoever is counted knows that the own cell is none.
    assert "What respondents work out with their own contributions was not judged." in str(found)
    assert "not judged" not in str(dc.suppress(table, Threshold(2)))
    release = found.release
    release.write(tmp_path / "release.csv")
    for one in (release, dc.read_release(tmp_path / "release.csv")):
        assert {kind.to_dict().get("least") for kind in one.parts()[0].kinds if kind.hidden} - {None} == {0}
        assert "can be 0" not in dc.audit(one).sentence


def test_what_is_hidden_is_behind_no_figure_that_is_shown(tmp_path: Path) -> None:
    four = write(tmp_path / "four.csv", "x,count", ["a,4", "b,4", "c,4", "d,4", "e,1"])
    out = tmp_path / "release.csv"
    assert run("protect", "hide-and-round", four, "--hide-up-to", "3", "--base", "5", "-o", out).code == 0
    told = run("audit", out)
    assert told.code == 1
    assert "6 values are determined exactly" in told.out
    table = dc.Table.from_array([4, 4, 4, 4, 1], {"x": list("abcde")})
    seen = {cell.name: (cell.lower, cell.upper) for cell in dc.audit(dc.protect.hide_and_round(table, 3, 5)).cells}
    assert seen == {"total": (17, 17), **dict.fromkeys(("x=a", "x=b", "x=c", "x=d"), (4, 4)), "x=e": (1, 1)}


# --- ten ones in a column -----------------------------------------------------------------------------------------


def street_table() -> dc.Table:
    counts = np.array([[1, well] for well in WELL])
    return dc.Table.from_array(counts, {"street": [f"s{i}" for i in range(10)], "state": ["ill", "well"]})


ONLY = 'extends = "safe-output"\n[limits]\ndr = "none"\n[[protections]]\nname = "suppress"\n'
"""Suppression and nothing else, no limit on 1/H: the claim is that nothing can be worked out."""


def test_ten_ones_are_not_hidden_behind_their_own_total() -> None:
    judged = dc.assess(street_table(), dc.Policy.from_text(ONLY))
    for release in (dc.suppress(street_table(), Threshold(10)).release, judged.release):
        assert release is not None
        limits = bounds_of_hidden(release, street_table())
        assert len(limits) > 10
        assert (limits[:, 0] < limits[:, 1]).all()


def test_what_assess_says_of_ten_ones_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    counts = [f"s{i},{state},{n}" for i, well in enumerate(WELL) for state, n in (("ill", 1), ("well", well))]
    file, out = write(tmp_path / "ill.csv", "street,state,count", counts), tmp_path / "release.csv"
    plain = run("assess", file, "--policy", "safe-output", "-o", out)
    assert plain.code == 0
    # The profile has something better than suppression, which would hide two thirds of the figures.
    assert "PROTECT" in plain.out
    assert "protection by random-rounding" in plain.out
    policy, hidden = write(tmp_path / "only.toml", ONLY, []), tmp_path / "hidden.csv"
    done = run("assess", file, "--policy", policy, "-o", hidden)
    assert "none of the 10 hidden or changed cells can be worked out exactly" in " ".join(done.out.split())
    limits = bounds_of_hidden(dc.read_release(hidden), street_table())
    assert (limits[:, 0] < limits[:, 1]).all()


# --- tables with many ones, by an integer program of their own ------------------------------------------------------


def bounds_of_hidden(release: dc.Release, table: dc.Table) -> IntArray:
    """Return the least and the largest value of each figure that a release of a table with two dimensions hides.

    One integer program after another over the cells of the table: figures that are shown hold, those hidden are at
    least 1, those not listed are 0.
    """
    shown = release.parts()[0]
    sizes = [len(d.categories) for d in table.dimensions]
    listed: dict[tuple[int, ...], tuple[int, int]] = {}
    for codes, value, hidden in zip(shown.codes, shown.values, shown.hidden, strict=True):
        labels = [shown.labels[name][int(code)] for name, code in zip(shown.names, codes, strict=True)]
        by = dict(zip(shown.names, labels, strict=True))
        place = tuple(
            -1 if by[d.name] == shown.total else list(map(str, d.categories)).index(by[d.name])
            for d in table.dimensions
        )
        listed[place] = (1, 10**6) if hidden else (int(value), int(value))
    grid = np.indices(sizes).reshape(len(sizes), -1).T
    rows, low, high = [], [], []
    for place in np.ndindex(*(n + 1 for n in sizes)):
        wanted = tuple(-1 if code == n else int(code) for code, n in zip(place, sizes, strict=True))
        inside = np.all([(code == -1) | (grid[:, d] == code) for d, code in enumerate(wanted)], axis=0)
        ends = listed.get(wanted, (0, 0))
        rows.append(inside.astype(float))
        low.append(ends[0])
        high.append(ends[1])
    fits = LinearConstraint(np.array(rows), low, high)
    found = []
    for row_, a, b in zip(rows, low, high, strict=True):
        if a == b:
            continue
        solved = [milp(sign * row_, constraints=fits, bounds=Bounds(0, 10**6), integrality=1) for sign in (1, -1)]
        found.append(np.rint([solved[0].fun, -solved[1].fun]))
    return np.array(found, np.int64).reshape(-1, 2)


def many_ones(seed: int) -> dc.Table:
    rng = np.random.default_rng(seed)
    sizes = (int(rng.integers(4, 7)), int(rng.integers(3, 5)))
    counts = rng.choice([0, 1, 1, 1, 2, 4, 9], sizes)
    counts[0, 0] = 12
    return dc.Table.from_array(
        counts, {"area": [f"a{i}" for i in range(sizes[0])], "age": [f"g{i}" for i in range(sizes[1])]}
    )


@few_or_long("seeds", range(9), range(30))
def test_no_hidden_figure_of_tables_with_many_ones_is_exact(seeds: range) -> None:
    suppressed = 0
    for seed in seeds:
        table = many_ones(seed)
        try:
            found = dc.suppress(table, Threshold(3))
        except InfeasibleError:
            continue
        limits = bounds_of_hidden(found.release, table)
        sensitive = found.pattern.status[found.pattern.positions] == 1
        assert (limits[sensitive, 0] < limits[sensitive, 1]).all(), seed
        suppressed += 1
    assert suppressed > len(seeds) * 2 / 3


# --- where there is no safe pattern -----------------------------------------------------------------------------------


def test_where_no_pattern_is_safe_the_error_proposes_what_works(tmp_path: Path) -> None:
    ones = dc.Table.from_array([1, 1, 1, 0], {"x": list("abcd")})
    total = (Wish({"x": "Total"}, "publish"),)
    with pytest.raises(InfeasibleError) as caught:
        dc.suppress(ones, Threshold(2), wishes=total)
    said = str(caught.value)
    assert "cell x=a cannot be protected by +1 while these are published: total" in said
    assert "let zeros be suppressed, so a mark may be one (zeros='suppressible')" in said
    assert "allow cells to be suppressed that must be published now" in said
    assert "make the table coarser" in said
    # What is proposed works.
    assert dc.suppress(ones, Threshold(2), wishes=total, zeros="suppressible").audit.verdict == "safe"
    assert dc.suppress(ones, Threshold(2)).audit.verdict == "safe"
    file = write(tmp_path / "ones.csv", "x,count", ["a,1", "b,1", "c,1", "d,0"])
    wishes = write(tmp_path / "wishes.csv", "x,status", ["Total,publish"])
    asked = ("protect", "suppress", file, "--rule", "threshold=2", "--apriori", wishes, "-o", tmp_path / "out.csv")
    reason = refused(run(*asked))
    assert "--zeros suppressible" in reason
    assert not (tmp_path / "out.csv").exists()
    assert run(*asked, "--zeros", "suppressible").code == 0


def test_only_what_works_is_proposed() -> None:
    ones = dc.Table.from_array([1, 1, 5], {"x": list("abc")})
    everything = tuple(Wish({"x": x}, "publish") for x in ("c", "Total"))
    with pytest.raises(InfeasibleError) as caught:
        dc.suppress(ones, Threshold(2), wishes=everything, levels=(0, 3))
    assert "zeros" not in str(caught.value)
    assert "allow cells to be suppressed" in str(caught.value)
    assert "lower the level" in str(caught.value)


def test_a_zero_that_must_be_hidden_needs_zeros_that_may_be() -> None:
    listed = Tabulation.from_table(row()).with_empty_cells()
    with pytest.raises(RequestError, match=r"cell x=e is 0 and must be suppressed, but zeros are published"):
        dc.suppress(listed, Threshold(3), wishes=(Wish({"x": "e"}, "suppress"),))
