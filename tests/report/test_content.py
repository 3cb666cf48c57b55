"""What a report says is what the data say: every figure, every cell, every format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.plain import data_of
from tests.report import examples

import discreet as dc
from discreet.report import notebook, write_pictures, write_report
from discreet.report.bars import charts_of
from discreet.report.cells import listed, panel_rows, stated_once
from discreet.report.confidentiality import readable
from discreet.report.edition import public
from discreet.report.heat_map_pages import HIDDEN, details_of, paged_tables
from discreet.report.html import html_report
from discreet.report.paragraphs import MADE, paragraphs
from discreet.report.provenance_rows import policy_rows
from discreet.report.riskmap import HEIGHT, WIDTH, map_of, taken_of
from discreet.report.scale import step_of


def internal(data: dict[str, object]) -> dict[str, object]:
    return {**data, "edition": "internal"}


def test_every_published_figure_stands_in_its_cell() -> None:
    data = internal(examples.large())
    (grid,) = paged_tables(data, details_of(data))
    assert (grid.row, grid.column) == ("area", "status")
    (part,) = data["release"]["figures"]  # type: ignore[index]
    place = {tuple(codes): value for codes, value in zip(part["codes"], part["values"], strict=True)}
    labels = [{label: i for i, label in enumerate(d["labels"])} for d in part["dimensions"]]
    seen = 0
    for page in grid.pages:
        age = labels[1][dict(page.slice)["age"]]
        for line in page.lines:
            for column, cell in zip(grid.columns, line.cells, strict=True):
                assert cell is not None
                assert int(cell.text.replace(",", "")) == place[labels[0][line.label], age, labels[2][column]]
                seen += 1
    assert (seen, grid.left) == (10_000, 0)


def test_hidden_figures_and_totals_are_drawn_as_such() -> None:
    data = internal(data_of(examples.firms()))
    (grid,) = paged_tables(data, details_of(data))
    (page,) = grid.pages
    cells = [cell for line in page.lines for cell in line.cells if cell is not None]
    hidden = sum(value is None for value in data["release"]["figures"][0]["values"])  # type: ignore[index]
    assert sum(cell.text == HIDDEN for cell in cells) == grid.hidden == hidden
    assert page.lines[-1].total
    assert grid.columns[-1] == "Total"
    # Every sensitive sum is hidden, and none is known.
    assert all(cell.hidden and cell.step < 5 for cell in cells if cell.sensitive)
    assert sum(cell.sensitive for cell in cells) == len(data["table"]["sensitive"])  # type: ignore[index]


def test_sensitive_cells_that_are_published_are_known() -> None:
    data = internal(examples.withheld())
    (grid,) = paged_tables(data, details_of(data))
    cells = [c for page in grid.pages for line in page.lines for c in line.cells if c is not None and c.sensitive]
    assert len(cells) == 21
    assert {cell.step for cell in cells} == {5}


@pytest.mark.parametrize(("values", "step"), [(1, 5), (2, 4), (3, 3), (4, 3), (5, 2), (16, 2), (17, 1)])
def test_steps_count_values(values: int, step: int) -> None:
    import math

    assert step_of(math.log2(values), False) == step


def test_the_bars_are_the_terms() -> None:
    data = internal(examples.religion())
    charts = {chart.dimension: chart for chart in charts_of(data)}
    for row in data["after"]["slices"]:  # type: ignore[index]
        (found,) = (s for s in charts[row["dimension"]].slices if s.category == row["category"])
        assert found.after is not None
        assert found.after.value == row["value"]
        ends = [at + wide for _, at, wide in found.after.parts]
        assert ends[-1] == pytest.approx(100 * row["value"] / charts[row["dimension"]].top)


def test_the_map_keeps_order_and_stays_inside() -> None:
    drawn = map_of(internal(examples.comparison()))
    assert drawn is not None
    dots = sorted(drawn.dots, key=lambda dot: dot.point.utility)
    assert [dot.x for dot in dots] == sorted(dot.x for dot in dots)
    by_risk = sorted(drawn.dots, key=lambda dot: dot.point.risk)
    assert [dot.y for dot in by_risk] == sorted((dot.y for dot in by_risk), reverse=True)
    assert all(0 < dot.x < WIDTH and 0 < dot.y < HEIGHT for dot in drawn.dots)
    # The limit of 0.5 parts those that meet the policy from those that do not.
    assert drawn.limit is not None
    assert all(dot.point.meets == (dot.y > drawn.limit) for dot in drawn.dots)


def test_the_page_says_what_the_data_say() -> None:
    data = internal(examples.religion())
    text = " ".join(" ".join(readable(html_report(data))).split())
    for word in ("Release after protection", "0.2315", f"{data['after']['value']:.4f}", "random-rounding"):  # type: ignore[index]
        assert word in text
    for check in data["checks"]:  # type: ignore[attr-defined]
        assert check["text"][1:] in text
    record = data["record"]
    for value in (record["results_sha256"], record["policy_sha256"], record["input"]["original_sha256"]):  # type: ignore[index]
        assert value in text
    for name, version in record["versions"].items():  # type: ignore[index]
        assert f"{name} {version}" in text


def test_pages_hold_no_raw_python() -> None:
    raw = re.compile(r"\{'|\[\]|\['|\be-\d\d|\b(False|nan|(additive|Trial)\s+True)\b|[( ][a-z_]+=[,)]")
    both = [examples.religion(), data_of(examples.firms())]
    pages = [html_report(internal(data)) for data in (*both, examples.comparison())]
    for page in (*pages, *(html_report(public(data, True)) for data in both)):
        text = " ".join(readable(re.sub(r"(?s)<(script|style).*?</\1>", "", page)))
        assert raw.search(text) is None, raw.search(text)


def test_settings_of_a_policy_are_words() -> None:
    rows = dict(policy_rows(data_of(dc.assess(dc.datasets.sex(), seed=1, trial=True))["policy"]))
    assert rows["Group disclosure"] == "everybody of a line in one cell"
    assert rows["Protection levels"] == "asked for where amounts are summed"
    assert rows["Empty cells"] == "not sensitive"
    few = dict(policy_rows({"rules": {"group_disclosure": 2}, "zeros": "unsafe", "limits": {"levels": "always"}}))
    assert few == {
        "Group disclosure": "all but at most 2 of a line in one cell",
        "Protection levels": "asked for",
        "Empty cells": "sensitive",
    }


def test_labels_with_markup_are_shown_not_run() -> None:
    import copy

    data = copy.deepcopy(examples.religion())
    nasty = "<script>alert(1)</script>\"&'</style>"
    data["name"] = nasty
    data["release"]["figures"][0]["dimensions"][0]["labels"][0] = nasty
    data["audit"]["cells"][0]["cell"]["output_area"] = nasty
    text = html_report(internal(data))
    assert "<script>alert" not in text
    assert text.count("</style>") == 1
    face = notebook(data)
    assert "<script" not in face


def test_a_large_report_stays_small(tmp_path: Path) -> None:
    size = write_report(examples.large(), tmp_path / "large.html").stat().st_size
    assert size < 2_000_000


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    for form in (".html", ".md", ".json"):
        first = write_report(examples.religion(), tmp_path / f"a{form}").read_bytes()
        assert first == write_report(examples.religion(), tmp_path / f"b{form}").read_bytes()


def test_markdown(tmp_path: Path) -> None:
    text = write_report(examples.religion(), tmp_path / "r.md").read_text(encoding="utf-8")
    assert text.startswith("# religion\n\n> **CONFIDENTIAL")
    assert "## Release after protection" in text
    assert re.search(r"\| output_area by religion \|.*\n\|---", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)
    several = write_report(examples.comparison(), tmp_path / "c.md").read_text(encoding="utf-8")
    assert "## The methods" in several
    assert "random-rounding, base 7" in several


def test_json_is_the_data_with_its_edition(tmp_path: Path) -> None:
    path = write_report(examples.religion(), tmp_path / "r.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data.pop("edition") == "internal"
    assert data == examples.religion()
    assert data["schema"] == 1


@pytest.mark.parametrize("form", ["svg", "png"])
def test_pictures(tmp_path: Path, form: str) -> None:
    names = [path.name for path in write_pictures(examples.religion(), tmp_path, format=form)]
    assert names == [f"{name}.{form}" for name in ("heat-map", "terms-1", "terms-2")]
    (drawn,) = write_pictures(examples.comparison(), tmp_path, format=form)
    assert drawn.name == f"risk-utility-map.{form}"
    begin = {"svg": b"<?xml", "png": b"\x89PNG"}[form]
    assert all(path.read_bytes().startswith(begin) for path in tmp_path.iterdir())
    if form == "svg":
        assert "CONFIDENTIAL" in (tmp_path / "heat-map.svg").read_text(encoding="utf-8")


def test_notebook_faces_have_heat_maps() -> None:
    face = notebook(examples.religion())
    assert face.startswith('<div class="discreet-face">')
    assert len(re.findall(r'<td class="k\d', face)) == 90
    assert "Confidential" in face
    assert 'class="frontier"' in notebook(examples.comparison())
    result = examples.firms()
    assert result._repr_html_().startswith('<div class="discreet-face">')


def test_what_is_not_shown_is_not_drawn_as_open() -> None:
    """Without a limit on the risk the bits are not weighed; a cell of four values is then not one of many."""
    import discreet as dc

    found = dc.assess(dc.datasets.religion(), "health", name="religion")
    assert found.verdict == "protect"
    for edition, data in (("internal", internal(data_of(found))), ("public", public(data_of(found), True))):
        details = details_of(data)
        ends = [(row["lower"], row["upper"]) for row in details.rows]
        narrow = [k for k, (low, high) in enumerate(ends) if high is not None and 2 <= high - low <= 3]
        assert len(narrow) > 10, edition
        (grid,) = paged_tables(data, details)
        drawn = {cell.detail: cell.step for page in grid.pages for line in page.lines for cell in line.cells if cell}
        assert {drawn[k] for k in narrow} == {3}
    rows = panel_rows(details_of(internal(data_of(found))), True, False)
    assert {(row["bits"], row["dr"]) for row in rows[:10]} == {("not shown", "not shown")}
    page = html_report(internal(data_of(found)))
    assert '"dr":"not shown"' in page


def tried(method: str, parameters: dict[str, object], meets: bool, utility: float | None) -> dict[str, object]:
    r2 = None if utility is None else 0.2
    return {"method": method, "parameters": parameters, "title": method, "meets": meets, "utility": utility, "r2": r2,
            "text": ""}  # fmt: skip


def test_the_chosen_method_is_ringed() -> None:
    """The policy names some parameters, the method that was taken states all of them."""
    chosen = {"method": "cell-key", "parameters": {"bound": 5, "variance": 3.0, "minimum": 1, "additive": True}}
    candidates = [
        tried("random-rounding", {"base": 3}, False, 0.95),
        tried("cell-key", {"bound": 5, "variance": 3, "minimum": 3}, True, 0.93),
        tried("cell-key", {"bound": 5, "variance": 3}, True, 0.94),
        tried("cell-key", {"bound": 5}, False, None),
    ]
    data = internal({**examples.religion(), "protection": chosen, "candidates": candidates})
    assert taken_of(data) == 3
    drawn = map_of(data)
    assert drawn is not None
    assert [dot.point.number for dot in drawn.dots if dot.point.recommended] == [3]
    page = html_report(data)
    assert page.count('<circle class="ring" cx="9"') == 1, "in the key"
    assert len(re.findall(r'<circle class="ring" cx="[^9]', page)) == 1, "on the map"
    assert page.count('<span class="tag">taken</span>') == 1


def test_shares_on_a_page_have_one_denominator() -> None:
    import discreet as dc

    found = [examples.religion(), examples.withheld(), dc.assess(dc.datasets.religion(), "health", name="r").to_dict()]
    for data in found:
        text = " ".join(" ".join(readable(html_report(internal(data)))).split())
        assert re.search(r"N = [\d,]+; 110 cells and totals", text)
        shares = re.findall(r"\d+ of (\d+) (?:cells|figures|others)", text)
        assert set(shares) == {"110"}
        assert "90 cells" not in text


def test_a_comparison_counts_its_protections_in_one_way() -> None:
    found = dc.compare(dc.datasets.religion(), ["random-rounding:base=3", "conventional-rounding:base=3"], draws=20)
    page = " ".join(" ".join(readable(html_report(internal(data_of(found))))).split())
    assert "2 protections compared" in page
    safe = dc.Table.from_array([[80, 70], [60, 90]], ["a", "b"])
    found = dc.compare(safe, ["random-rounding:base=3", "conventional-rounding:base=3"], draws=20)
    assert "2 protections compared; 2 meet the policy" in found.sentence
    assert found.sentence.endswith("Take the table as it is, which does too.")
    told = " ".join(" ".join(readable(html_report(internal(data_of(found))))).split())
    assert "Protections compared 2" in told
    assert "Meet the policy 2" in told
    assert "Protections 2, as listed above" in page


def test_the_table_is_led_by_its_protection_and_no_settings() -> None:
    page = " ".join(readable(html_report(internal(data_of(examples.firms())))))
    assert "The figures as they would be published (suppress)." in page
    page = " ".join(readable(html_report(internal(examples.religion()))))
    assert "The figures as they would be published (random-rounding, base 3)." in page


def test_a_shared_proof_is_stated_once() -> None:
    rows, proofs = stated_once(listed(details_of(internal(examples.religion())), True))
    assert len(rows) == 21
    assert proofs == ["Published, rounded at random to base 3"]
    assert {(row["shared"], tuple(row["proof"])) for row in rows} == {(1, ())}
    page = html_report(internal(examples.religion()))
    table = page[page.index('id="cells"') : page.index('id="slices"')]
    assert table.count("rounded at random") == 1
    # Proofs that differ stay where they are.
    rows, proofs = stated_once(listed(details_of(internal(data_of(examples.firms()))), True))
    assert proofs == []
    assert all(row["proof"] for row in rows)


def test_who_when_and_a_place_to_sign(tmp_path: Path) -> None:
    for form in (".html", ".md"):
        blank = write_report(examples.religion(), tmp_path / f"a{form}").read_text(encoding="utf-8")
        signed = write_report(examples.religion(), tmp_path / f"b{form}", author="A. Novak", date="17 November")
        text = signed.read_text(encoding="utf-8")
        for word in ("Drawn up by", "Checked by", "Release decided by", "Signature"):
            assert word in blank
            assert word in text
        assert ("A. Novak" in text, "17 November" in text, "A. Novak" in blank) == (True, True, False)


def test_texts_to_copy_say_only_what_is_published() -> None:
    data = data_of(examples.firms())
    inside, outside = paragraphs(internal(data)), paragraphs(public(data))
    assert inside == outside
    quality, told = (text for _, text in inside)
    assert "suppressed, together with others" in quality
    assert "All published figures are exact. A suppressed figure is at least 1." in quality
    assert "we leave it out" in told
    assert not re.findall(r"\d", told)
    for title, text in inside:
        assert title in html_report(internal(data))
        assert text in " ".join(readable(html_report(public(data))))
    # Neither a trial nor a table that is withheld is announced.
    assert paragraphs(internal(examples.religion())) == []
    assert paragraphs(internal(examples.withheld())) == []


def test_every_method_that_assessments_take_has_words() -> None:
    """Samples, swaps and simulations are called by their name."""
    from discreet.protect import METHODS

    named = {
        "random-sample",
        "stratified-sample",
        "bernoulli-sample",
        "record-swapping",
        "table-swapping",
        "simulation",
    }
    assert set(METHODS) - set(MADE) == named
    data = internal({**examples.religion(), "trial": False})
    for text in (text for _, text in paragraphs(data)):
        assert "{" not in text
    assert (
        "rounded at random to a neighbouring multiple of 3. Published figures therefore differ"
        in paragraphs(data)[0][1]
    )


def test_protections_that_were_not_tried_are_not_shown_as_failed() -> None:
    table = dc.Table.from_array([[1, 30, 2], [40, 1, 50], [2, 60, 70]], ["a", "b"])
    data = data_of(dc.assess(table, seed=1, trial=True))
    page = html_report(internal(data))
    told = [one["text"] for one in data["candidates"]]
    untried = [text for text in told if text.startswith("not tried")]
    assert 0 < len(untried) < len(told)
    for text in told:
        tick = "·" if text in untried else "✓" if text == "meets the policy" else "✗"
        assert f'<span class="tick">{tick}</span> {text}</td>' in page
