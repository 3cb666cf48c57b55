"""The public edition and the release leak nothing, and the guard stops what would."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.report import examples

import discreet as dc
from discreet.core.errors import DataError, RequestError
from discreet.report import write_pictures, write_report
from discreet.report import writing as writing_module
from discreet.report.confidentiality import numbers, readable, unpublished
from discreet.report.edition import public
from discreet.table.figures import Figures

FORMS = (".html", ".md", ".json")


def hidden_sums(data: dict[str, Any]) -> set[int]:
    """Return the original sums of all cells that are not published, by a walk of its own over the data."""
    table, (part,) = data["table"], data["release"]["figures"]
    shown = {}
    for codes, value in zip(part["codes"], part["values"], strict=True):
        shown[tuple(d["labels"][c] for d, c in zip(part["dimensions"], codes, strict=True))] = value
    found = set()
    for codes, value in zip(table["codes"], table["values"], strict=True):
        labels = tuple(d["labels"][c] for d, c in zip(table["dimensions"], codes, strict=True))
        if shown.get(labels) is None:
            found.add(int(value))
    return found


def spellings(value: int) -> list[str]:
    """Return the ways in which a number may be written."""
    return [str(value), f"{value:,}", f"{value:_}", f"{value:,}".replace(",", " "), f"{value / 1000:g}"]


def test_nothing_hidden_stands_in_public_reports_or_releases(tmp_path: Path) -> None:
    """Every hidden sum is a number of six digits or more that stands nowhere else: a search for it is proof."""
    found = examples.firms()
    data = found.to_dict()
    assert found.verdict == "protect"
    secret = hidden_sums(data)
    contributions = {int(value) for value in examples.firms_records()["turnover"].to_pylist()}
    assert len(secret) >= 6
    editions = ("public", "public-intervals")
    files = [write_report(data, tmp_path / f"{name}{form}", edition=name) for form in FORMS for name in editions]
    files += write_pictures(data, tmp_path, edition="public-intervals")
    files += found.release.write(tmp_path / "release.csv")
    files += found.release.write(tmp_path / "release.parquet")
    published = {int(v) for v in data["release"]["figures"][0]["values"] if v is not None}
    for file in files:
        text = file.read_bytes().decode("utf-8", "replace")
        for value in (secret | contributions) - published:
            assert not any(spelling in text for spelling in spellings(value)), (file.name, value)
    # The same search finds them inside, where they belong.
    internal = write_report(data, tmp_path / "internal.html").read_text(encoding="utf-8")
    assert all(any(s in internal for s in spellings(v)) for v in {int(row["original"]) for row in data["cells"]})
    assert json.loads((tmp_path / "public.json").read_text(encoding="utf-8"))["edition"] == "public"


def test_the_public_edition_of_rounded_counts_tells_nothing_of_the_rules(tmp_path: Path) -> None:
    data = examples.religion()
    for form in FORMS:
        text = write_report(data, tmp_path / f"public{form}", edition="public").read_text(encoding="utf-8")
        for word in ("contributor, fewer", "0.2315", f"{data['after']['value']:.4f}", "Sensitive cells", "sha256"):
            assert word not in text, word
        assert "random-rounding" in text
    # The original total of 2,449 is not published; the rounded figures add up to another number.
    assert "2449" not in text
    assert "2,449" not in text


def test_values_behind_hidden_figures_are_dropped_even_if_they_were_there() -> None:
    data = copy.deepcopy(examples.firms().to_dict())
    part = data["release"]["figures"][0]
    hides = part["hides"]
    for i, kind in enumerate(part["kind"]):
        if hides[kind]:
            part["values"][i] = 123_456_789
    assert "123456789" not in json.dumps(public(data))


@pytest.mark.parametrize("form", FORMS)
def test_the_guard_stops_a_leak_in_any_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """Were the public edition ever built with an original value in it, nothing would be written."""
    data = examples.firms().to_dict()
    secret = int(data["cells"][0]["original"])
    from discreet.report.edition import edition_of as honest

    def careless(given: Any, edition: str) -> dict[str, Any]:
        return {**honest(given, edition), "name": f"turnover, {secret:,} in the north"}

    monkeypatch.setattr(writing_module, "edition_of", careless)
    with pytest.raises(DataError, match="1 figures of the original that are not published; nothing was written"):
        write_report(data, tmp_path / f"public{form}", edition="public")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "place",
    [
        "<p>{}</p>",
        '<td title="{}">x</td>',
        '<g aria-label="sum {}"></g>',
        '<script type="application/json">[{}]</script>',
        "<p>1<b>{}</b></p>",
    ],
)
def test_the_guard_reads_everything_that_can_be_read(place: str) -> None:
    assert "739213" in numbers(readable(f"<html>{place.format('739,213')}</html>"))
    silent = "<style>p { width: 739213px }</style><script>let a = 739213;</script>"
    assert numbers(readable(f"<html>{silent}</html>")) == set()


def test_unpublished_values_are_those_that_differ() -> None:
    data = examples.religion()
    inner = data["release"]["figures"][0]
    rounded = {tuple(c): v for c, v in zip(inner["codes"], inner["values"], strict=True)}
    changed = set()
    for codes, value in zip(data["table"]["codes"], data["table"]["values"], strict=True):
        labels = [d["labels"][c] for d, c in zip(data["table"]["dimensions"], codes, strict=True)]
        if "Total" in labels:
            changed.add(str(value))
            continue
        place = tuple(d["labels"].index(x) for d, x in zip(inner["dimensions"], labels, strict=True))
        if rounded[place] != value:
            changed.add(str(value))
    assert unpublished(data) == changed


def test_what_has_no_public_edition(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="nothing is published"):
        write_report(examples.withheld(), tmp_path / "r.html", edition="public")
    with pytest.raises(RequestError, match="a comparison has no public edition"):
        write_report(examples.comparison(), tmp_path / "r.html", edition="public")
    sample = {**examples.religion(), "kind": "sample", "release": None}
    with pytest.raises(RequestError, match="names no release"):
        write_report(sample, tmp_path / "r.html", edition="public")
    assert list(tmp_path.iterdir()) == []


def test_bad_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = examples.religion()
    with pytest.raises(RequestError, match=r"'.docx' is not a format of reports"):
        write_report(data, tmp_path / "r.docx")
    with pytest.raises(RequestError, match="no edition 'secret'"):
        write_report(data, tmp_path / "r.html", edition="secret")
    with pytest.raises(RequestError, match="is not a folder"):
        write_report(data, tmp_path / "no" / "r.html")
    with pytest.raises(DataError, match="version 2"):
        write_report({**data, "schema": 2}, tmp_path / "r.html")
    with pytest.raises(DataError, match="not of 'audit'"):
        write_report({**data, "kind": "audit"}, tmp_path / "r.html")
    with pytest.raises(RequestError, match="pictures cannot be in the format 'gif'"):
        write_pictures(data, tmp_path, format="gif")
    with pytest.raises(RequestError, match="is not a folder"):
        write_pictures(data, tmp_path / "no")
    monkeypatch.setenv("DISCREET_CHROMIUM", "no-such-browser")
    with pytest.raises(RequestError, match=r"DISCREET_CHROMIUM names 'no-such-browser'.*write \.html"):
        write_report(data, tmp_path / "r.pdf")
    monkeypatch.setenv("DISCREET_CHROMIUM", "false")
    with pytest.raises(RequestError, match="printed nothing"):
        write_report(data, tmp_path / "r.pdf")
    assert list(tmp_path.iterdir()) == []


def test_intervals_are_public_only_if_asked(tmp_path: Path) -> None:
    data = examples.firms().to_dict()
    plain = json.loads(write_report(data, tmp_path / "p.json", edition="public").read_text(encoding="utf-8"))
    asked = json.loads(write_report(data, tmp_path / "i.json", edition="public-intervals").read_text(encoding="utf-8"))
    assert plain["audit"]["cells"] == []
    assert len(asked["audit"]["cells"]) == 13
    assert {**asked, "audit": None} == {**plain, "audit": None}
    text = write_report(data, tmp_path / "p.html", edition="public").read_text(encoding="utf-8")
    assert 'id="cells"' not in text
    assert '<script type="application/json"' not in text
    assert "Statistical disclosure control: figures that would disclose too much were suppressed" in text
    assert 'id="cells"' in write_report(data, tmp_path / "i.html", edition="public-intervals").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("form", FORMS)
def test_public_intervals_do_not_say_which_sums_are_sensitive(form: str, tmp_path: Path) -> None:
    """Of two originals behind the same figures, one has a column of 7, which the policy calls sensitive, one of 8."""
    written = []
    for last in (7, 8):
        table = dc.Table.from_array([[1, 4, 0], [2, 10, last]], {"y": ["r", "s"], "x": list("abc")})
        found = dc.assess(table, "health", seed=0x1234567890ABCDEF1234567890ABCDEF)
        assert found.verdict == "protect"
        assert found.release is not None
        assert found.release.parts()[0].values.tolist() == [0, 5, 0, 0, 10, 10]
        file = write_report(found.to_dict(), tmp_path / f"{last}{form}", edition="public-intervals")
        written.append(file.read_bytes())
    assert written[0] == written[1]


def test_what_others_know_takes_no_place_among_the_intervals_of_outsiders() -> None:
    """How many intervals a report lists does not depend on what respondents know, or on which sums were asked about."""
    shown = Figures.from_array([None, None, None, 60], {"cell": ["a", "b", "c", "Total"]})
    rows = [({"cell": cell}, firm, size) for cell, firm, size in (("a", "F", 10), ("b", "F", 20), ("c", "G", 30))]
    found = dc.audit(shown, contributions=dc.Contributions.from_rows(rows))
    assert all(one.attacker != "outsider" for one in found.worst(2))
    outsiders = [one.attacker == "outsider" for one in found.worst_of_each(2)]
    assert (outsiders.count(True), outsiders.count(False)) == (2, 2)


def test_only_the_internal_edition_is_signed(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="only the internal edition is signed"):
        write_report(examples.firms().to_dict(), tmp_path / "p.html", edition="public", author="A. Novak")
    assert list(tmp_path.iterdir()) == []
