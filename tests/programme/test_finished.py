"""Plans of finished tables: amounts in rows, tables of a part, and what lets their respondents be judged."""

from __future__ import annotations

import csv
import itertools
import random
from pathlib import Path

import pytest
from tests.plain import data_of

from discreet.core.errors import DataError, RequestError
from discreet.programme.explanation import explain_plan
from discreet.programme.finished import finished_clusters
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.periods import Before
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, run_plan

REGIONS = {"E1": "E", "E2": "E", "W1": "W", "W2": "W"}
WAYS = {"size": "sml", "form": "pq"}
POLICY = """title = "own"
{insiders}[rules]
threshold = 3
p_percent = 10
[limits]
levels = "magnitudes"
[[protections]]
name = "suppress"
"""
HEAD = 'policy = "own.toml"\n[dimensions.region]\nhierarchy = "regions.csv"\n'
AMOUNTS = 'count = "N"\nvalue = "SUM"\nlargest = ["MAX1", "MAX2"]\n'


def firms(seed: int = 1, number: int = 60) -> list[tuple[str, str, str, str, int]]:
    draw = random.Random(seed)
    return [
        (f"f{i}", draw.choice(list(REGIONS)), draw.choice("sml"), draw.choice("pq"), int(draw.lognormvariate(5, 1)) + 2)
        for i in range(number)
    ]


def written(folder: Path, name: str, by: tuple[str, ...], *, east: bool = False, decimal: str = ".") -> None:
    """Write a finished table: contributors, sum and two largest contributions of every cell and margin."""
    cells: dict[tuple[str, ...], list[int]] = {}
    for _, region, size, form, amount in firms():
        if east and REGIONS[region] != "E":
            continue
        places = [region, "East"] if east else [region, REGIONS[region], "Total"]
        ways = {"region": places, "size": [size, "Total"], "form": [form, "Total"]}
        for key in itertools.product(*(ways[name] for name in by)):
            cells.setdefault(key, []).append(amount)
    lines = [";".join([*by, "N", "SUM", "MAX1", "MAX2"])]
    for key, amounts in cells.items():
        first, second = sorted([*amounts, 0, 0])[:-3:-1]
        figures = [f"{one}{decimal}0" for one in (sum(amounts), first, second)]
        lines.append(";".join([*key, str(len(amounts)), *figures]))
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path, "sizes", ("region", "size"))
    written(tmp_path, "forms", ("region", "form"))
    written(tmp_path, "east", ("region", "size", "form"), east=True)
    written(tmp_path, "kinds", ("size", "form"))
    written(tmp_path, "all", ("region", "size", "form"))
    (tmp_path / "regions.csv").write_text("outer,inner\n" + "".join(f"{o},{i}\n" for i, o in REGIONS.items()))
    rows = "".join(",".join(map(str, row)) + "\n" for row in firms())
    (tmp_path / "records.csv").write_text("id,region,size,form,SUM\n" + rows)
    (tmp_path / "own.toml").write_text(POLICY.format(insiders=""))
    return tmp_path


def table(name: str, by: str, more: str = AMOUNTS, file: str | None = None) -> str:
    crossed = ", ".join(f'"{one}"' for one in by.split())
    return f'[[tables]]\nname = "{name}"\nfile = "{file or name}.csv"\nby = [{crossed}]\n{more}'


SIZES, FORMS, ALL = table("sizes", "region size"), table("forms", "region form"), table("all", "region size form")
EAST = table("east", "region size form", AMOUNTS + 'part = { region = "East" }\n')


def ran(folder: Path, text: str) -> ProgrammeOutcome:
    return run_plan(plan_of(text, folder=folder), RunOptions(folder=folder / "published"))


def refusal(folder: Path, text: str) -> str:
    with pytest.raises((DataError, RequestError)) as error:
        ran(folder, text)
    return str(error.value)


def test_amounts_in_rows_are_read_as_their_records_are_tabulated(folder: Path) -> None:
    (found,) = finished_clusters(plan_of(HEAD + SIZES, folder=folder))
    (sheet,) = found.sheets
    east = sheet.find(region="E", size="s")
    amounts = sorted(x for _, region, size, _, x in firms() if (REGIONS[region], size) == ("E", "s"))
    assert sheet.records[east] == len(amounts)
    assert sheet.responses[0].sums[east] == sum(amounts)
    assert sheet.contributors.largest[0].top[east].tolist() == amounts[:-3:-1]
    written(folder, "sizes", ("region", "size"), decimal=",")
    (comma,) = finished_clusters(plan_of(HEAD + SIZES + "decimal = ','\n", folder=folder))
    assert comma.sheets[0].responses == sheet.responses


def test_what_is_wrong_with_rows_is_said(folder: Path) -> None:
    text = HEAD + SIZES
    assert "name the columns that classify (by)" in refusal(folder, text.replace('by = ["region", "size"]\n', ""))
    assert "no column 'MAX3'; did you mean" in refusal(folder, text.replace("MAX2", "MAX3"))
    assert "no code '_T'" in refusal(folder, text.replace("[[tables]]", 'total = "_T"\n[[tables]]'))
    # Subtotals without their hierarchy are no sums of categories.
    flat = text.replace('[dimensions.region]\nhierarchy = "regions.csv"\n', "")
    assert "subtotals need the hierarchy" in refusal(folder, flat)
    lines = (folder / "sizes.csv").read_text().splitlines()
    (folder / "sizes.csv").write_text("\n".join(line for line in lines if not line.startswith("E;")) + "\n")
    assert "the table shows 'E1', but no row of 'E'" in refusal(folder, text)
    (folder / "sizes.csv").write_text("\n".join([*lines, lines[1]]) + "\n")
    assert "the cell was given before" in refusal(folder, text)
    (folder / "sizes.csv").write_text("\n".join([*lines[:1], lines[1].replace(".0;", ".7;", 1), *lines[2:]]) + "\n")
    assert "SUM of margin" in refusal(folder, text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + EAST.replace('"East"', '"Total"'), "'Total' is the total of everybody in 'region'"),
        (HEAD + SIZES + 'where = { size = "s" }\n', "is finished, so no people can be chosen from it"),
        (
            'equations = ["SUM = a + b"]\n' + HEAD + SIZES,
            "equations are between columns of records, and the tables are files",
        ),
        (
            '[records]\nfiles = "records.csv"\n[[tables]]\nname = "T"\nby = ["size"]\npart = { size = "s" }\n',
            "this says how a finished table is read",
        ),
    ],
)
def test_keys_that_do_not_fit_are_refused(folder: Path, text: str, told: str) -> None:
    with pytest.raises(RequestError) as error:
        plan_of(text, folder=folder)
    assert told in str(error.value)


def test_a_table_of_a_part_is_linked_with_those_of_everybody(folder: Path) -> None:
    """What the East hides follows from everybody less the West, and the other way round, so they are one problem."""
    (folder / "own.toml").write_text(POLICY.format(insiders='insiders = "none"\n'))
    text = HEAD + SIZES + FORMS + EAST
    told = explain_plan(plan_of(text, folder=folder))
    assert told.sentence == "3 tables, 3 to protect in 1 cluster."
    assert told.shared()[1:] == [
        "the cells of region × size and all their totals occur in sizes and in east, as far as region is in East",
        "the cells of region × form and all their totals occur in forms and in east, as far as region is in East",
    ]
    found = ran(folder, text)
    assert found.verdict == "protect"
    hidden = {}
    for name in ("sizes", "east"):
        with (folder / "published" / f"{name}.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                hidden[row["region"], row["size"], row.get("form", "Total")] = row["value"] == "x"
    assert sum(hidden.values()) > 6
    # The East is the group E of the other table, so what one of them hides the other hides as well.
    for size in "sml":
        assert hidden["East", size, "Total"] == hidden["E", size, "Total"]


def test_tables_of_one_variable_that_contradict_each_other_are_refused_until_it_is_said_how_they_differ(
    folder: Path,
) -> None:
    lines = (folder / "forms.csv").read_text().splitlines()
    cells = [line.split(";") for line in lines[1:]]
    doubled = [";".join([*row[:3], *(f"{2 * float(x)}" for x in row[3:])]) for row in cells]
    (folder / "forms.csv").write_text("\n".join([lines[0], *doubled]) + "\n")
    told = refusal(folder, HEAD + SIZES + FORMS)
    assert "region=E" in told or "Total" in told
    assert 'variable = "…"' in told
    found = explain_plan(plan_of(HEAD + SIZES + FORMS + 'variable = "costs"\n', folder=folder))
    assert [cluster.name for cluster in found.clusters] == ["SUM", "costs"]
    found = explain_plan(plan_of(HEAD + SIZES + FORMS + 'period = "2025"\n', folder=folder))
    assert [cluster.name for cluster in found.clusters] == ["SUM", "SUM 2025"]


ONE_MORE = {(region, form): (2, 1) for region in ("E1", "E", "Total") for form in ("p", "Total")}
"""Changes of a table of forms: in which row, which column, by how much."""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (ONE_MORE, "the number of contributors to cell"),
        ({("E1", "Total"): (4, -1)}, "largest contribution 1 to cell region=E1, size=Total"),
    ],
)
def test_tables_that_contradict_each_other_in_who_contributes_are_refused(
    folder: Path, changes: dict[tuple[str, str], tuple[int, int]], told: str
) -> None:
    """Rules judged a cell by the first table alone, which may say that it has more contributors, or smaller ones."""
    lines = [line.split(";") for line in (folder / "forms.csv").read_text().splitlines()]
    for row in lines:
        column, by = changes.get((row[0], row[1]), (2, 0))
        row[column] = f"{float(row[column]) + by:g}" if by else row[column]
    (folder / "forms.csv").write_text("\n".join(map(";".join, lines)) + "\n")
    found = refusal(folder, HEAD + SIZES + FORMS)
    assert told in found
    assert "in region × size, but" in found


def test_tables_with_different_numbers_of_largest_contributions_are_refused(folder: Path) -> None:
    fewer = table("forms", "region form", AMOUNTS.replace(', "MAX2"', ""))
    assert "name as many of both" in refusal(folder, HEAD + SIZES + fewer)


def test_rules_that_need_more_of_the_largest_than_the_files_hold_are_refused_with_what_helps(folder: Path) -> None:
    fewer = (SIZES + FORMS).replace(', "MAX2"', "")
    told = refusal(folder, HEAD + fewer)
    assert "the 2 largest contributions are needed, but the table keeps 1" in told
    assert "take rules that need no more; where a plan reads a finished table, name as many of its columns" in told
    # Both can be written into the plan or its policy.
    assert ran(folder, HEAD + SIZES + FORMS).verdict == "protect"
    rules = '[rules]\np_percent = "none"\ndominance = [{ n = 1, k = 85 }]\n'
    (folder / "own.toml").write_text(f'extends = "business"\n{rules}')
    assert ran(folder, HEAD + fewer).verdict == "protect"


def test_each_remedy_where_respondents_cannot_be_judged_publishes_the_tables(folder: Path) -> None:
    text = HEAD + SIZES + FORMS + table("kinds", "size form")
    (held,) = ran(folder, text).clusters
    assert held.verdict == "withhold"
    for remedy in (
        "run a plan over the records",
        "one table that crosses all of their dimensions",
        'insiders = "none"',
    ):
        assert remedy in held.sentence
    # With the table that crosses all of their dimensions, and over the records, respondents are judged.
    (crossed,) = ran(folder, text + ALL).clusters
    assert crossed.verdict == "protect"
    records = (
        HEAD
        + '[records]\nfiles = "records.csv"\ncontributor = "id"\n'
        + '[[tables]]\nname = "sizes"\nby = ["region", "size"]\nvalue = "SUM"\n'
        + '[[tables]]\nname = "forms"\nby = ["region", "form"]\nvalue = "SUM"\n'
        + '[[tables]]\nname = "kinds"\nby = ["size", "form"]\nvalue = "SUM"\n'
    )
    (by_name,) = ran(folder, records).clusters
    assert by_name.verdict == "protect"
    for judged in (crossed, by_name):
        assert not any("was not judged" in said for said in (*judged.notes, *(text for _, text in judged.checks)))
    # Leaving them aside is a statement, which the outcome repeats.
    (folder / "own.toml").write_text(POLICY.format(insiders='insiders = "none"\n'))
    aside = ran(folder, text)
    assert aside.verdict == "protect"
    (notes,) = (cluster["notes"] for cluster in data_of(aside)["clusters"])
    assert "was not judged, as the policy says (insiders)" in notes[0]


@pytest.mark.parametrize("shown", [("s", "a", "b"), ("s", "a")])
def test_finished_tables_whose_amounts_follow_from_each_other_are_refused(folder: Path, shown: tuple[str, ...]) -> None:
    """What a table of the sum hides, tables of its parts may show, and equations tie columns of records alone."""
    draw = random.Random(2)
    rows = [(place, draw.randrange(50, 99), draw.randrange(50, 99)) for place in ("n", "s", "w", "e")]
    rows.append(("Total", sum(a for _, a, _ in rows), sum(b for _, _, b in rows)))
    text = 'policy = "own.toml"\n'
    for name in shown:
        cells = [(place, {"s": a + b if "b" in shown else 2 * a, "a": a, "b": b}[name]) for place, a, b in rows]
        lines = [f"{place},{12 if place == 'Total' else 3},{x},{x // 3},{x // 4}" for place, x in cells]
        (folder / f"{name}.csv").write_text("\n".join([f"place,N,{name},MAX1,MAX2", *lines]) + "\n")
        text += table(name, "place", AMOUNTS.replace("SUM", name))
    told = refusal(folder, text)
    assert ("'s' is 'a' + 'b'" in told) if "b" in shown else ("times" in told)
    assert "leave tables of one of them out" in told
    # One less, and nothing follows.
    left = table(shown[0], "place", AMOUNTS.replace("SUM", shown[0]))
    assert ran(folder, 'policy = "own.toml"\n' + left).verdict in ("release", "protect", "withhold")


def test_the_total_of_a_part_is_not_that_of_everybody(folder: Path) -> None:
    """What both were last time is known of each: readers who know the growth know the total of everybody, too."""

    def write(west: int) -> None:
        areas = {"E1": 2, "E2": 4, "E3": 20}
        east = sum(areas.values())
        whole = {"East": east, "West": west, "North": 44, "Total": east + west + 44}
        for name, counts in (("east", {**areas, "East": east}), ("whole", whole)):
            lines = ["area,count", *(f"{area},{n}" for area, n in counts.items())]
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")

    (folder / "areas.csv").write_text("outer,inner\n" + "".join(f"East,{area}\n" for area in ("E1", "E2", "E3")))
    (folder / "own.toml").write_text(
        'extends = "default"\n[rules]\nthreshold = 3\n[limits]\nr2 = "none"\ndr = "none"\n'
    )
    part = 'part = { area = "East" }\n'
    tables = '[dimensions.area]\nhierarchy = "areas.csv"\n' + table("whole", "area", "") + table("east", "area", part)
    head = 'policy = "own.toml"\nprotection = "suppress"\n'
    write(30)
    (last,) = ran(folder, f'{head}period = "q1"\n{tables}').clusters
    assert last.release is not None
    before = Before.of(last.release)
    key = frozenset({("area", "East")})
    assert (before.figures[frozenset()], before.figures[key]) == (100, 26)
    assert (before.left()[frozenset()], before.left()[key]) == ((100, 100), (26, 26))
    write(31)
    text = f'{head}period = "q2"\n{tables}[previous]\nfolder = "published"\ngrowth = 20\n'
    (now,) = run_plan(plan_of(text, folder=folder), RunOptions(folder=folder / "next")).clusters
    assert "7 of 7 cells are as before" in " ".join(now.notes)
    assert "changed by more" not in " ".join(now.notes)


@pytest.mark.parametrize("protection", ["suppress", "conventional-rounding:base=3,margins=true"])
def test_subtotals_may_stand_beside_counts_of_nobody(folder: Path, protection: str) -> None:
    (folder / "areas.csv").write_text("outer,inner\nEast,E1\nEast,E2\nEast,E3\n")
    (folder / "own.toml").write_text(
        'extends = "default"\n[rules]\nthreshold = 3\n[limits]\nr2 = "none"\ndr = "none"\n'
    )
    (folder / "whole.csv").write_text("area,count\nE1,0\nE2,4\nE3,10\nEast,14\nWest,30\nTotal,44\n")
    tables = '[dimensions.area]\nhierarchy = "areas.csv"\n' + table("whole", "area", "")
    (found,) = ran(folder, f'policy = "own.toml"\nprotection = "{protection}"\n{tables}').clusters
    assert found.release is not None
    assert Before.of(found.release).figures.get(frozenset({("area", "E1")}), 0) == 0
