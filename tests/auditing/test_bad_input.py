"""Whatever is wrong with a release is an error or a finding that names it; nothing passes in silence."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.auditing.examples import TABLE_1, csv_of

import discreet as dc
from discreet import Attacker, DataError, Figures, Hierarchy, InfeasibleError, Kind, Limits, RequestError
from discreet.reading.published import read_tab_release
from discreet.table.attacker import Fact
from discreet.table.release_reader import release_from_frame


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(csv_of(TABLE_1, "x"))
    return path


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("mark", ["x", "..", "c", ""])
@pytest.mark.parametrize("wide", [False, True])
def test_marks_and_layouts(tmp_path: Path, mark: str, wide: bool) -> None:
    path = write(tmp_path / "t.csv", csv_of(TABLE_1, mark, wide))
    result = dc.audit(dc.read_release(path, least=0))
    assert [c.values for c in result.cells] == [407] * 4
    # The table shows zeros, so that a reader takes hidden figures to be above 0 unless told otherwise.
    assert [c.values for c in dc.audit(dc.read_release(path)).cells] == [405] * 4


def test_figures_left_out_beside_marked_ones_are_not_guessed(tmp_path: Path) -> None:
    """Readers may take what is empty for 0, and then know what x hides."""
    path = write(tmp_path / "t.csv", "area,count\nA,x\nB,\nC,4\nTotal,9\n")
    with pytest.raises(DataError, match=r"line 3: the figure is empty, while 'x' hides others; say what it means"):
        dc.read_release(path)
    with pytest.raises(DataError, match=r"line 3, column 'm': the figure is empty"):
        dc.read_release(write(tmp_path / "w.csv", "area,f,m,Total\nA,x,x,9\nB,5,,5\nTotal,8,6,14\n"))
    hidden, zero = (dc.audit(dc.read_release(path, marks=["x", mark])) for mark in ("", "=0..0"))
    assert [(c.lower, c.upper) for c in hidden.cells] == [(0, 5), (0, 5)]
    assert [(c.lower, c.upper) for c in zero.cells] == [(5, 5), (0, 0)]


def test_parquet_and_frames(tmp_path: Path) -> None:
    rows = [
        (a, s, v) for a, row in TABLE_1.items() for s, v in zip(["4", "5", "6", "7", "8", "Total"], row, strict=True)
    ]
    arrow = pa.table({"activity": [r[0] for r in rows], "size": [r[1] for r in rows], "value": [r[2] for r in rows]})
    pq.write_table(arrow, tmp_path / "t.parquet")
    assert len(dc.audit(dc.read_release(tmp_path / "t.parquet")).cells) == 4
    assert len(dc.audit(release_from_frame(arrow.to_pandas())).cells) == 4


def test_unknown_marks_and_impossible_figures(tmp_path: Path) -> None:
    for text, message in [
        ("?", r"line 2: the figure is '\?', neither a number nor a suppression mark"),
        ("-3", "line 2: the figure -3 is negative"),
        ("nan", "line 2: the figure is 'nan'"),
        ("1e3", "line 2: the figure is '1e3'"),
    ]:
        path = write(tmp_path / "t.csv", f"x,count\n1,{text}\n2,4\nTotal,9\n")
        with pytest.raises(DataError, match=message):
            dc.read_release(path)
    with pytest.raises(DataError, match="the figure is nan"):
        release_from_frame(pa.table({"x": ["1"], "count": [float("nan")]}))
    with pytest.raises(DataError, match="neither a number nor a suppression mark"):
        dc.read_release(write(tmp_path / "t.csv", "x,count\n1,x\n"), marks=["hidden"])
    with pytest.raises(RequestError, match="mark '0' is a number"):
        dc.read_release(tmp_path / "t.csv", marks=["0"])


def test_margins_that_do_not_add_up_are_named_with_both_figures(tmp_path: Path, file: Path) -> None:
    write(file, file.read_text().replace('Total",4,1448', 'Total",4,1148'))
    with pytest.raises(DataError, match=r"margin 'size=4' is 1148, but its cells sum to 1448"):
        dc.audit(dc.read_release(file))


def test_conflicts_name_a_smallest_set_of_figures() -> None:
    shown = Figures.from_array(
        [[None, None, 5], [None, None, 4], [3, 7, None], [1, 1, 2], [4, 9, None]],
        {"r": [1, 2, "g", 3, "Total"], "c": [1, 2, "Total"]},
        hierarchies={"r": (Hierarchy.from_parents({"1": "g", "2": "g", "g": "Total", "3": "Total"}),)},
    )
    with pytest.raises(DataError, match="margin 'c=2' is 9, but its cells sum to 8"):
        dc.audit(shown)
    both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    with pytest.raises(InfeasibleError, match=r"figures contradict each other") as caught:
        dc.audit(Figures.from_array([[None, None, 5], [None, None, 4], [3, 7, None]], both))
    for part in ("r=1 = 5", "r=2 = 4", "c=1 = 3", "c=2 = 7"):
        assert part in str(caught.value)
    narrow = Figures.from_array([[4, None], [None, None]], {"r": [1, "Total"], "c": [1, "Total"]}, absent="unpublished")
    with pytest.raises(InfeasibleError, match="2 figures contradict each other"):
        dc.audit([narrow, Figures.from_array([3], {"r": ["Total"]}, name="other", absent="unpublished")])


def test_tables_that_disagree() -> None:
    a, b = (Figures.from_array([v], {"x": ["1"]}, name=n) for v, n in ((3, "first"), (4, "second")))
    with pytest.raises(DataError, match="cell x=1 is 4 in second, but 3 in first"):
        dc.audit([a, b])
    with pytest.raises(DataError, match="has no row for cell x=2, so it is empty there"):
        dc.audit([Figures.from_array([3, 5], {"x": ["1", "2"]}, name="first"), a])


def test_a_suppressed_value_shown_elsewhere_is_a_finding() -> None:
    hidden = Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]}, name="a")
    shown = Figures.from_array([4], {"x": ["1"]}, name="b", absent="unpublished")
    result = dc.audit([hidden, shown])
    assert result.verdict == "unsafe"
    assert all(c.values == 1 for c in result.cells)
    assert "published in b" in result.cell(x="1").proof


def test_rounding_that_is_none() -> None:
    with pytest.raises(DataError, match=r"cell x=1 is 7, which is not a multiple of the rounding base 5"):
        Figures.from_array([7], {"x": ["1"]}, kind=Kind("random", base=5))
    with pytest.raises(RequestError, match="rounding base is 1"):
        Kind("random", base=1)
    with pytest.raises(RequestError, match="did you mean 'random'"):
        Kind("randm")


def test_hierarchies_that_do_not_match() -> None:
    tree = Hierarchy.from_parents({"a": "Total"})
    with pytest.raises(DataError, match="category 'b' of dimension 'x' is not in its hierarchy"):
        Figures.from_array([1, 2], {"x": ["a", "b"]}, hierarchies={"x": (tree,)})
    with pytest.raises(RequestError, match="a hierarchy is given, but there is no dimension 'y'"):
        Figures.from_array([1], {"x": ["a"]}, hierarchies={"y": (tree,)})


def test_insiders_that_cannot_be() -> None:
    shown = Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]})
    with pytest.raises((DataError, InfeasibleError)):
        dc.audit(shown, attackers=[Attacker.insider({"x": "1"}, 10)])
    exact = Figures.from_array([4, None, 9], {"x": ["1", "2", "Total"]})
    with pytest.raises(DataError, match="insider contributes 5 to cell x=1, which is at most 4"):
        dc.audit(exact, attackers=[Attacker.insider({"x": "1"}, 5)])
    with pytest.raises(RequestError, match="has no category '7'"):
        dc.audit(shown, attackers=[Attacker.insider({"x": "7"}, 5)])


def test_requests_that_make_no_sense() -> None:
    shown = Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]})
    with pytest.raises(RequestError, match="no law 'table'; did you mean 'tables'"):
        dc.audit(shown, law="table")
    with pytest.raises(RequestError, match="what is published has no dimension 'y'"):
        dc.audit(shown, about=["y"])
    with pytest.raises(RequestError, match="give the original too"):
        dc.audit(shown, protection=10)
    with pytest.raises(DataError, match="lists category '1' twice"):
        Figures.from_array([1, 2], {"x": ["1", "1"]})


def test_tab_files_keep_no_suppressed_value(tmp_path: Path) -> None:
    rows = ["Total,9,9,S", "1,4,4,U", "2,3,3,M", "3,2,2,S"]
    (tmp_path / "t.tab").write_text("\n".join(rows) + "\n")
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ","\nx 5\n<RECODEABLE>\n<TOTCODE> "Total"\nvalue 9\n<NUMERIC>\n<RESPONSE>\n'
        "freq 9\n<NUMERIC>\n<FREQUENCY>\nstatus 1\n<STATUS>\n"
    )
    release = read_tab_release(tmp_path / "t.tab")
    part = release.parts()[0]
    assert part.values[part.hidden].tolist() == [0, 0]
    assert [(c.lower, c.upper) for c in dc.audit(release).cells] == [(1, 6), (1, 6)]


def test_a_release_that_hides_nothing_is_not_called_safe() -> None:
    """The audit has nothing to work out there, and so nothing that it could show to be safe."""
    shown = Figures.from_array([[1, 5, 6], [2, 0, 2], [3, 5, 8]], {"a": ["x", "y", "Total"], "b": ["m", "n", "Total"]})
    result = dc.audit(shown)
    assert result.verdict == "incomplete"
    assert "dc.sensitivity" in result.sentence


def test_laws_that_run_out_of_time_are_never_safe() -> None:
    """Tables that are too many to count in time leave figures incomplete, with what is certain about them."""
    rng = np.random.default_rng(1)
    truth = rng.integers(5, 40, (9, 9))
    full = np.block([[truth, truth.sum(1, keepdims=True)], [truth.sum(0, keepdims=True), truth.sum()]]).tolist()
    rows: list[list[int | None]] = [[None] * 9 + [row[9]] for row in full[:9]] + [full[9]]
    both = {"r": [*map(str, range(9)), "Total"], "c": [*map(str, range(9)), "Total"]}
    shown = Figures.from_array(rows, both)
    dc.audit(Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]}), law="tables")  # compile outside the clock
    complete = dc.audit(shown, proofs=0)
    started = time.process_time()
    hurried = dc.audit(shown, law="tables", time_limit=0.2, proofs=0)
    assert time.process_time() - started < 10
    assert hurried.verdict == "incomplete"
    assert hurried.counts["safe"] == 0
    for cell in hurried.cells:
        assert not cell.finished
        before = complete.cell(**cell.cell)
        assert cell.lower <= before.lower
        assert cell.upper >= before.upper


def test_levels_that_make_no_sense() -> None:
    shown = Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]})
    with pytest.raises(RequestError, match="give the lower, then the upper one"):
        Limits(levels={(("x", "1"),): (5, 3)})
    with pytest.raises(RequestError, match="has no category '7'"):
        dc.audit(shown, limits=Limits(levels={(("x", "7"),): (1, 3)}))
    with pytest.raises(RequestError, match="within is 0"):
        Limits(within=0)
    somebody = Attacker("somebody", (), (Fact({"x": "1"}, 10, 12),))
    with pytest.raises(InfeasibleError, match=r"about somebody .* \(total = 9; x=1 between 10 and 12\)"):
        dc.audit(shown, attackers=[somebody])
    with pytest.raises(InfeasibleError, match="somebody is said to know that cell total lies between 10 and 12, but"):
        dc.audit(shown, attackers=[Attacker("somebody", (), (Fact({"x": "Total"}, 10, 12),))])


def test_figures_that_cannot_come_about_as_they_are_said_to() -> None:
    for kind in (Kind("perturbed", bound=1, least=5), Kind("conventional", base=2, hides=4)):
        with pytest.raises(DataError, match="nothing can be behind the figure 2"):
            kind.range(np.array([9, 2]))
    with pytest.raises(RequestError, match="figures of the kind 'random' have no 'least'; there are: 'hides', 'base'"):
        Kind("random", base=3, least=1)


def test_bounds_between_integers_are_those_of_the_next_integers() -> None:
    both = {"x": ["1", "2", "Total"]}
    above = dc.audit(Figures.from_array([None, None, 2], both), least=0.5)
    below = dc.audit(Figures.from_array([None, None, 6], both), most=3.5)
    assert [(cell.lower, cell.upper) for cell in (*above.cells, *below.cells)] == [(1, 1)] * 2 + [(3, 3)] * 2
    assert above.verdict == below.verdict == "unsafe"
    decimals = dc.audit(Figures.from_array([None, None, 3], both, decimals=1), least=0.1)
    assert [(cell.lower, cell.upper) for cell in decimals.cells] == [(0.1, 0.2)] * 2


def test_what_holds_a_release_is_opened_and_anything_else_refused() -> None:
    table = dc.Table.from_array([[2, 9, 8], [7, 6, 9], [9, 8, 5]], {"area": list("abc"), "age": list("xyz")})
    made = dc.suppress(table, "threshold=3")
    assert dc.audit(made).verdict == dc.audit([made]).verdict == dc.audit(made.release).verdict == "safe"
    withheld = dc.assess(table, "default", protection="none")
    assert withheld.release is None
    with pytest.raises(dc.RequestError, match="there is no release"):
        dc.audit(withheld)
    with pytest.raises(dc.RequestError, match="int is not a release"):
        dc.audit(5)
