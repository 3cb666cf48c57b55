"""Plans: what is one problem, what is contained, drafts, and faults with line, key and remedy."""

from __future__ import annotations

import random
import tomllib
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest
from tests.plain import data_of
from tests.programme.records import table

from discreet.core.errors import RequestError
from discreet.programme.drafting import draft, draft_as_read
from discreet.programme.explanation import explain_plan
from discreet.programme.indicators import Indicators
from discreet.programme.overview import clusters_picture
from discreet.programme.plan_model import Programme
from discreet.programme.plan_reader import plan_of, read_plan
from discreet.programme.running import RunOptions, run_plan
from discreet.tabulation.tabulate import tabulate

HEADER = "table_name,field,hrc_field,indicator,hrc_indicator,spanning_1,hrc_spanning_1,spanning_2,hrc_spanning_2"
LISTED = [
    *(("to_pizza", "", a, "hrc_nuts", "size", "") for a in ("nuts2", "nuts3")),
    *(("to_pizza", "", a, "hrc_naf", n, "hrc_nuts") for a in ("a10", "a21") for n in ("nuts2", "nuts3")),
    *(
        (f"to_{what}", "hrc_lettuce", "a10", "hrc_naf", by, "")
        for what in ("batavia", "arugula", "lettuce")
        for by in ("size", "cj")
    ),
]
"""Twelve turnover tables as an office lists them: pizza by region, activity and size; lettuce by its kinds."""


@pytest.fixture
def pizza(tmp_path: Path) -> Path:
    rows = [f"T{i},enterprises,,{v},{h},{a},{ha},{b},{hb}" for i, (v, h, a, ha, b, hb) in enumerate(LISTED, start=1)]
    (tmp_path / "tables.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    (tmp_path / "plan.toml").write_text(draft(tmp_path / "tables.csv"))
    return tmp_path / "plan.toml"


def test_twelve_listed_tables_are_four_to_protect_in_two_clusters(pizza: Path) -> None:
    found = explain_plan(read_plan(pizza))
    assert found.sentence == "12 tables, 4 to protect in 2 clusters."
    assert {frozenset(group.name.split("+")) for _, group in found.groups} == {
        frozenset({"T1", "T2"}),
        frozenset({"T3", "T4", "T5", "T6"}),
        frozenset({"T8", "T10", "T12"}),
        frozenset({"T7", "T9", "T11"}),
    }
    assert found.contained() == ["T1 is contained in T2", "T3, T4 and T5 are contained in T6"]
    assert len(found.tied()) == 2
    assert data_of(found)["clusters"][1]["shared"][0]["dimensions"] == ["hrc_naf"]


def test_a_table_of_part_of_the_levels_alone_is_contained_in_none(pizza: Path) -> None:
    plan = read_plan(pizza)
    without = plan.model_copy(update={"tables": tuple(t for t in plan.tables if t.name != "T6")})
    names = {group.name for _, group in explain_plan(without).groups}
    assert {"T3+T4", "T5"} <= names


def test_a_template_of_requested_cells_is_six_tables_in_three_clusters(tmp_path: Path) -> None:
    rows = ["TIME_PERIOD,INDICATOR,ACTIVITY,NUMBER_EMPL,LEGAL_FORM"]
    for (period, what), act in product([("2022", "SAL"), ("2021", "DTH"), ("2022", "DTH")], ["ALL", "B", "C", "C10"]):
        rows += [f"{period},{what},{act},{size},_T" for size in ("_T", "E0", "E1T4")]
        rows += [f"{period},{what},{act},_T,{form}" for form in ("LL", "SP")]
    (tmp_path / "template.csv").write_text("\n".join(rows) + "\n")
    text = draft(tmp_path / "template.csv", totals={"ACTIVITY": "ALL"})
    found = explain_plan(plan_of(text))
    assert found.sentence == "6 tables, 6 to protect in 3 clusters."
    assert [cluster.name for cluster in found.clusters] == ["SAL 2022", "DTH 2021", "DTH 2022"]
    assert plan_of(text).dimensions["ACTIVITY"].total == "ALL"
    with pytest.raises(RequestError, match=r"'AL', said to be the total of ACTIVITY .*; did you mean 'ALL'"):
        draft(tmp_path / "template.csv", totals={"ACTIVITY": "AL"})
    with pytest.raises(RequestError, match="no column 'ACTIVTY'; did you mean 'ACTIVITY'"):
        draft(tmp_path / "template.csv", totals={"ACTIVTY": "ALL"})


@pytest.mark.parametrize("begin", ["DATAFLOW", "STRUCTURE,STRUCTURE_ID,ACTION", ""])
@pytest.mark.parametrize("what", ["INDICATOR", ""])
def test_a_template_in_sdmx_is_the_plan_of_the_cells_that_it_asks_for(begin: str, what: str, tmp_path: Path) -> None:
    """Empty observations, attributes and what is the same in all cells were taken for dimensions."""
    dimensions = ["FREQ", "REF_AREA", "ACTIVITY", "SIZE", *filter(None, [what]), "TIME_PERIOD"]
    head = [*filter(None, begin.split(",")), *dimensions, "OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "UNIT_MULT"]
    first = {"DATAFLOW": "ESTAT:BD(1.0)", "STRUCTURE": "dataflow", "STRUCTURE_ID": "ESTAT:BD(1.0)", "ACTION": "I"}
    told = {"FREQ": "A", "REF_AREA": "FR", "TIME_PERIOD": "2022", "INDICATOR": "SAL", "UNIT_MULT": "0"}
    cells = [{"ACTIVITY": act, "SIZE": size} for act in ("ALL", "B", "C") for size in ("_T", "E0", "E1T4")]
    rows = [",".join({**first, **told, **cell}.get(name, "") for name in head) for cell in cells]
    (tmp_path / "template.csv").write_text("\n".join([",".join(head), *rows]) + "\n")
    text = draft(tmp_path / "template.csv", totals={"ACTIVITY": "ALL"})
    plan = plan_of(text)
    assert [(table.by, table.value) for table in plan.tables] == [(("ACTIVITY", "SIZE"), "SAL" if what else None)]
    assert plan.period == "2022"
    assert "# REF_AREA is FR in all cells." in text
    assert 'where = { REF_AREA = "FR" }' in text
    assert set(plan.dimensions) == {"ACTIVITY", "SIZE"}
    # With records, it can be run.
    draw = random.Random(4)
    lines = [f"{i},{draw.choice('BC')},{draw.choice(['E0', 'E1T4'])},{20 + i}" for i in range(60)]
    (tmp_path / "firms.csv").write_text("\n".join(["id,ACTIVITY,SIZE,SAL", *lines]) + "\n")
    records = '[records]\nfiles = "firms.csv"\ncontributor = "id"\n'
    whole = text.replace('"default"', '"business"').replace("[dimensions", f"{records}[dimensions", 1)
    found = run_plan(plan_of(whole, folder=tmp_path), RunOptions(tmp_path / "out", seed=2**100))
    assert found.verdict in ("release", "protect")
    assert len(list((tmp_path / "out").glob("*.csv"))) == 1


def test_records_become_a_plan_with_nested_columns_as_levels(tmp_path: Path) -> None:
    rows = ["region,district,sex,turnover"]
    rows += [f"r{i % 3},r{i % 3}d{i % 9},{'mf'[i % 2]},{i}.5" for i in range(60)]
    (tmp_path / "firms.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "plan.toml").write_text(draft(tmp_path / "firms.csv"))
    plan = read_plan(tmp_path / "plan.toml")
    assert plan.dimensions["district"].columns == ("region", "district")
    assert [table.by for table in plan.tables] == [("district", "sex")]
    assert plan.dimension("region") == ("district", 1)
    # Somewhere else, the plan still finds its records.
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "plan.toml").write_text(draft(tmp_path / "firms.csv", folder=tmp_path / "plans"))
    assert read_plan(tmp_path / "plans" / "plan.toml").records is not None


def test_a_draft_rounds_amounts_with_many_digits(tmp_path: Path) -> None:
    for digits, wanted in ((2, None), (13, 2)):
        rows = [f"F{i},{'nsw'[i % 3]},{'ab'[i // 3 % 2]},{i * 7}.{'1' * digits}" for i in range(60)]
        (tmp_path / "firms.csv").write_text("\n".join(["firm,region,size,turnover", *rows]) + "\n")
        records = plan_of(draft(tmp_path / "firms.csv"), folder=tmp_path).records
        assert records is not None
        assert records.decimals == wanted


def test_a_plan_drafted_from_records_of_people_can_be_run(tmp_path: Path) -> None:
    draw = random.Random(3)
    rows = [f"{draw.choice('NNNSSW')},{draw.choice('yyyo')},{draw.choice('mf')}" for _ in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["region,age,sex", *rows]) + "\n")
    (tmp_path / "plan.toml").write_text(draft(tmp_path / "people.csv"))
    plan = read_plan(tmp_path / "plan.toml")
    assert [len(table.by) for table in plan.tables] == [3, 2, 2, 2]
    found = run_plan(plan, RunOptions(tmp_path / "out", seed=2**100))
    assert found.verdict == "protect"
    assert {file.name for file in (tmp_path / "out").glob("*.csv")} == {f"{table.name}.csv" for table in plan.tables}


def test_a_crossing_too_large_to_publish_is_not_drafted(tmp_path: Path) -> None:
    rows = [",".join(str((i * k) % 60) for k in (1, 7, 11)) for i in range(300)]
    (tmp_path / "people.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
    text = draft(tmp_path / "people.csv")
    assert "216,000 cells, so their crossing is not drafted" in text
    assert text.count("[[tables]]") == 3


def test_a_finished_table_is_not_drafted_as_records(tmp_path: Path) -> None:
    """Counts that were taken for amounts would be judged by who contributed them, each by one respondent."""
    (tmp_path / "a.csv").write_text("sex,count\nm,3\nf,5\n")
    (table,) = plan_of(draft(tmp_path / "a.csv"), folder=tmp_path).tables
    assert (table.name, table.value) == ("a", None)
    assert table.file is not None


def test_a_column_called_person_says_whose_records_are(tmp_path: Path) -> None:
    """Numbers 1, 2, 3 … in it are no amounts to add up."""
    rows = [f"{n},{'nsw'[n % 3]},{'ab'[n % 2]}" for n in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["person,area,sex", *rows]))
    plan = plan_of(draft(tmp_path / "people.csv"), folder=tmp_path)
    assert [(table.by, table.value) for table in plan.tables] == [(("area", "sex"), None)]
    assert tomllib.loads(draft(tmp_path / "people.csv"))["records"]["contributor"] == "person"


def test_a_plan_that_is_another_file_is_drafted_first(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sex,count\nm,3\nf,5\n")
    with pytest.raises(RequestError, match=r"a\.csv is not TOML: .*draft a plan from other files"):
        read_plan(tmp_path / "a.csv")


def test_a_folder_of_tables_is_the_simplest_plan(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sex,count\nm,3\nf,5\n")
    (tmp_path / "b.csv").write_text("age,count\n1,3\n2,5\n")
    plan = plan_of(draft(tmp_path), folder=tmp_path)
    assert [table.name for table in plan.tables] == ["a", "b"]
    # What the tables cross is in their files.
    found = explain_plan(plan)
    assert [row[:3] for row in found.face(0).rows] == [["count", "a", "sex"], ["count", "b", "age"]]
    assert found.contained() == []
    assert found.shared() == ["the grand total occurs in a and in b"]


def test_a_folder_of_amounts_is_drafted_and_not_run_as_guessed(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    cells = {("a", "s"): (6, 96.5, 31), ("a", "l"): (5, 80, 27), ("b", "s"): (7, 71, 19), ("b", "l"): (4, 63, 22)}
    rows = []
    for region, size in product(("All", "a", "b"), ("Total", "s", "l")):
        inside = [one for (r, s), one in cells.items() if region in ("All", r) and size in ("Total", s)]
        rows.append((region, size, sum(n for n, _, _ in inside), sum(v for _, v, _ in inside), max(inside)[2]))
    lines = [",".join(map(str, row)) for row in rows]
    (folder / "sizes.csv").write_text("\n".join(["REGION,SIZE,N_OBS,TOT,MAX", *lines]) + "\n")
    (folder / "sexes.csv").write_text("SEX,men,women\nm,3,4\nf,5,6\nTotal,8,10\n")
    text = draft(folder, folder=tmp_path)
    assert 'largest = ["MAX"] # the largest contributions, in this order' in text
    sexes, sizes = plan_of(text, folder=tmp_path).tables
    assert (sizes.by, sizes.count, sizes.value) == (("REGION", "SIZE"), "N_OBS", "TOT")
    assert (sexes.by, sexes.value) == ((), None)
    assert [row[:3] for row in explain_plan(plan_of(text, folder=tmp_path)).face(0).rows] == [
        ["count", "sexes", "SEX × column"],
        ["TOT", "sizes", "REGION × SIZE"],
    ]
    # A guess is for somebody to check: the folder itself is no plan.
    with pytest.raises(RequestError, match=r"sizes\.csv has amounts, .*discreet plan new .*tables -o plan\.toml"):
        draft_as_read(folder)


GOOD = """title = "firms"
policy = "business"
equations = ["lettuce = batavia + arugula"]
[records]
files = "firms.csv"
[dimensions.region]
hierarchy = "region.csv"
[[tables]]
name = "T1"
by = ["region"]
value = "lettuce"
[[tables]]
name = "T2"
by = ["region", "size"]
value = "batavia"
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "T2"', 'name = "T1"', "line 13, tables.1.name: tables 1 and 2 are both called 'T1'"),
        ('"firms.csv"', '"none.csv"', "line 5, records.files: .*none.csv does not exist"),
        ("policy =", "polcy =", "line 2, polcy: there is no such key; did you mean 'policy'"),
        ("by = [", "bye = [", "line 10, tables.0.bye: there is no such key; did you mean 'by'"),
        ('"region.csv"', '"circle.csv"', "line 7, dimensions.region.hierarchy: .*circle"),
        ("hierarchy", "hierachy", "line 7, dimensions.region.hierachy: there is no such key; did you mean 'hierarchy'"),
        ("+ arugula", "+ lettuce", "line 3, equations: .* names an indicator twice"),
        (' + arugula"', ' + arugula", "batavia = lettuce + x"', "line 3, equations: .*circle"),
        ("+ arugula", "* arugula", "line 3, equations: .*cannot be read"),
        ('"business"', '"own.toml"', "line 2, policy: policy 'own' lists no protection for tables of magnitudes"),
        ('"business"', '"busines"', "line 2, policy: there is no policy 'busines'"),
        ('title = "firms"', 'title = "firms"\nprotection = "random-rounding"', "line 2, protection: .*does not allow"),
        ('title = "firms"', 'folder = "x"', "line 1, folder: there is no such key"),
        ("[records]", "[records", "is not TOML"),
        ('name = "T2"', 'name = "t1"', "line 13, tables.1.name: the file t1.csv .* place of that of table 'T1'"),
        ('title = "firms"', 'title = "firms"\nledger = "none/office.sqlite"', "line 2, ledger: .*none is not a folder"),
        (
            "[dimensions.region]",
            '[dimensions.area]\ncolumns = ["size", "region"]\n[dimensions.region]',
            r"line 12, tables.0.by: 'region' may mean dimension 'area' or 'region'; .*\(levels\); line 16, tables.1.by",
        ),
    ],
)
def test_a_bad_plan_is_refused_with_line_key_and_remedy(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "firms.csv").write_text("region,size,batavia,arugula,lettuce\na,s,1,2,3\n")
    (tmp_path / "region.csv").write_text("code,parent\na,n\nb,n\n")
    (tmp_path / "circle.csv").write_text("code,parent\na,b\nb,a\n")
    (tmp_path / "own.toml").write_text(
        'extends = "business"\n[[protections]]\nname = "random-rounding"\nonly = "counts"\n'
    )
    (tmp_path / "plan.toml").write_text(GOOD)
    assert len(read_plan(tmp_path / "plan.toml").tables) == 2
    (tmp_path / "plan.toml").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(RequestError, match=told):
        read_plan(tmp_path / "plan.toml")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"region", "size"', '"region", "sise"', "line 14, tables.1.by: .* no column 'sise'; did you mean 'size'"),
        ('value = "batavia"', 'value = "batvia"', "line 15, tables.1.value: .*'batvia'; did you mean 'batavia'"),
        ("+ arugula", "+ romaine", "line 3, equations: the records have no column 'romaine'"),
        ('"firms.csv"', '"firms.csv"\ncontributor = "id"', "line 6, records.contributor: .* no column 'id'"),
        (
            'y = "region.csv"',
            'y = "region.csv"\ncolumns = ["r"]',
            "line 8, dimensions.region.columns: .* no column",
        ),
    ],
)
def test_columns_that_the_records_lack_are_found_before_a_run(tmp_path: Path, old: str, new: str, told: str) -> None:
    (tmp_path / "firms.csv").write_text("region,size,batavia,arugula,lettuce\na,s,1,2,3\n")
    (tmp_path / "region.csv").write_text("code,parent\na,n\nb,n\n")
    (tmp_path / "plan.toml").write_text(GOOD)
    assert len(explain_plan(read_plan(tmp_path / "plan.toml")).groups) == 1
    (tmp_path / "plan.toml").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(RequestError, match=rf"plan\.toml: {told}"):
        explain_plan(read_plan(tmp_path / "plan.toml"))


def test_a_column_nested_in_two_dimensions_that_no_table_crosses_is_refused(tmp_path: Path) -> None:
    """Nothing would tie the regions of one table to those of the other."""
    rows = [f"{'ns'[i % 2]},{'ns'[i % 2]}{i % 3},{'ns'[i % 2]}c{i % 5},{i}" for i in range(60)]
    (tmp_path / "firms.csv").write_text("\n".join(["region,district,county,pizza", *rows]) + "\n")
    nested = [("area", "district"), ("admin", "county")]
    text = 'policy = "business"\n[records]\nfiles = "firms.csv"\n'
    text += "".join(f'[dimensions.{name}]\ncolumns = ["region", "{finest}"]\n' for name, finest in nested)
    tables = table("A", ["district"], "pizza") + table("B", ["county"], "pizza")
    told = r'line 7, dimensions.admin.columns: \'region\' is nested in \'area\' too.*\(by = \["area", "admin"\]\)'
    with pytest.raises(RequestError, match=told):
        plan_of(text + tables, folder=tmp_path)
    # What it says can be written into the plan.
    crossed = plan_of(text + tables + table("AB", ["area", "admin"], "pizza"), folder=tmp_path)
    assert explain_plan(crossed).clusters


def test_no_two_formats_of_two_tables_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("region,size,batavia,arugula,lettuce\na,s,1,2,3\n")
    (tmp_path / "region.csv").write_text("code,parent\na,n\nb,n\n")
    text = GOOD.replace('"T2"', '"T1-flags"') + '[output]\nformats = ["csv", "flags"]\n'
    with pytest.raises(RequestError, match=r"line 13, tables.1.name: the file T1-flags.csv would take the place"):
        plan_of(text, folder=tmp_path)


def test_a_plan_made_in_python_is_checked_too() -> None:
    plan = Programme.model_validate({"tables": [{"name": "T", "by": ["a"]}, {"name": "T", "by": ["b"]}]})
    with pytest.raises(RequestError, match="both called 'T'"):
        explain_plan(plan)


def test_equations_form_trees() -> None:
    found = Indicators.of(["veg = lettuce + carrot", "lettuce = batavia + arugula"])
    assert found.root("arugula") == "veg"
    assert found.tree("veg").leaves == ("carrot", "batavia", "arugula")
    for bad in (["a = b + c", "d = c + e"], ["a = b + c", "a = d + e"], ["a = b + c - d"], ["a = b"]):
        with pytest.raises(RequestError):
            Indicators.of(bad)


@pytest.mark.parametrize("number", ["F{}", "{}"])
def test_what_is_of_one_record_alone_is_no_dimension_of_a_draft(number: str, tmp_path: Path) -> None:
    """Few records are enough: their numbers and amounts would be published as rows of a table."""
    rows = [f"{number.format(i)},r{i % 3},a{i % 4},{600 + 7 * i}" for i in range(60)]
    (tmp_path / "firms.csv").write_text("\n".join(["firm_id,region,activity,turnover", *rows]))
    drafted = tomllib.loads(draft(tmp_path / "firms.csv"))
    assert drafted["records"]["contributor"] == "firm_id"
    assert [(one["by"], one["value"]) for one in drafted["tables"]] == [(["region", "activity"], "turnover")]


def test_clusters_of_one_shape_are_drawn_once_and_many_names_are_slanted() -> None:
    names = [f"dimension {k}" for k in range(9)]

    def plan(dimensions: list[str]) -> Programme:
        tables = [
            {"name": f"{value} {name}", "by": [dimensions[0], name], "value": value}
            for value in ("output", "inputs")
            for name in dimensions[1:]
        ]
        return Programme.model_validate({"tables": tables})

    for dimensions, slanted in ((names[:3], 0), (names, 9)):
        clusters, crossed = plan(dimensions).clusters(), 2 * (len(dimensions) - 1)
        one = clusters_picture(clusters)
        assert "output and inputs" in one
        assert (one.count("<circle"), one.count("rotate(")) == (crossed, slanted)
        # What must not be released is seen beside what may.
        both = clusters_picture(clusters, {"output": "protect", "inputs": "withhold"})
        assert (both.count("<circle"), both.count("rotate(")) == (2 * crossed, 2 * slanted)


def test_finished_tables_of_another_amount_are_a_cluster_of_their_own(tmp_path: Path) -> None:
    """Turnover that one table counts otherwise is another variable, and contradicts nothing."""
    rows = [(i, "nw"[i % 2], "st"[i // 2 % 2], "xy"[i // 4 % 2], 10 + i, 5 + i) for i in range(40)]
    names = ("id", "region", "size", "form", "turnover", "turnover_east")
    records = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    text = ""
    for name, by, value in (("sizes", "size", "turnover"), ("forms", "form", "turnover"), ("east", "size", names[-1])):
        tabulate(records, by=["region", by], value=value, contributor="id").write(tmp_path / f"{name}.parquet")
        text += f'[[tables]]\nname = "{name}"\nfile = "{name}.parquet"\n'
    found = explain_plan(plan_of(text, folder=tmp_path))
    assert [(cluster.name, group.name) for cluster, group in found.groups] == [
        ("turnover", "sizes"),
        ("turnover", "forms"),
        ("turnover_east", "east"),
    ]


def test_a_finished_table_of_a_part_is_not_put_beside_one_of_everybody(tmp_path: Path) -> None:
    for name, total in (("all", "Total"), ("east", "Total_EAST")):
        (tmp_path / f"{name}.rda").write_text(
            f'   <SEPARATOR> ";"\nREGION 12\n <RECODEABLE>\n <TOTCODE> "{total}"\nN_OBS\n <FREQUENCY>\n'
        )
        (tmp_path / f"{name}.tab").write_text(f"{total};30\na;10\nb;20\n")
    text = "".join(f'[[tables]]\nname = "{name}"\nfile = "{name}.tab"\n' for name in ("all", "east"))
    with pytest.raises(
        RequestError, match=r"'REGION' is 'Total' in table 'all' and 'Total_EAST' in table 'east'; give"
    ):
        explain_plan(plan_of(text, folder=tmp_path))
