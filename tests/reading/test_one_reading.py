"""One file, one reading: every command and function sees the same table in it, or refuses it in the same words."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import polars as pl
import pytest
from tests.cli.running import refused, run
from tests.cli.test_reading import REFUSED

import discreet as dc
from discreet.core.effort import DrawOptions, Effort, WorkOptions
from discreet.core.errors import DiscreetError, both_shown, with_options
from discreet.reading.reading import Reading, ReadingOptions
from discreet.table.tabulation import Tabulation
from discreet.tabulation.argus_tab import write_tab

AREAS, AGES = ["n", "s", "w"], ["x", "y", "z"]
COUNTS = [[2, 9, 8], [7, 6, 9], [9, 8, 5]]
TABLE = dc.Table.from_array(COUNTS, {"area": AREAS, "age": AGES})
PEOPLE = TABLE.total
BASE = ["none", "small-count-rounding:base=3"]


@dataclass(frozen=True)
class Way:
    """One way to write the table: the file, how the command line is told to read it, and how the library is."""

    file: Path
    options: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)


def long_rows(total: str | None = None) -> list[tuple[str, str, int]]:
    rows = [(a, b, COUNTS[i][j]) for i, a in enumerate(AREAS) for j, b in enumerate(AGES)]
    if total is None:
        return rows
    rows += [(a, total, sum(COUNTS[i])) for i, a in enumerate(AREAS)]
    rows += [(total, b, sum(row[j] for row in COUNTS)) for j, b in enumerate(AGES)]
    return [*rows, (total, total, PEOPLE)]


def people() -> pd.DataFrame:
    return pd.DataFrame([(a, b) for a, b, count in long_rows() for _ in range(count)], columns=["area", "age"])


def text_file(file: Path, lines: list[str]) -> Path:
    file.write_text("\n".join(lines) + "\n")
    return file


def long_text(folder: Path, separator: str = ",", total: str | None = None, count: str = "count") -> Path:
    rows = [separator.join(map(str, row)) for row in [("area", "age", count), *long_rows(total)]]
    return text_file(folder / "t.csv", rows)


def wide(folder: Path) -> Way:
    rows = ["area\\age,x,y,z", *(",".join([a, *map(str, row)]) for a, row in zip(AREAS, COUNTS, strict=True))]
    return Way(text_file(folder / "t.csv", rows))


def parquet(folder: Path) -> Way:
    TABLE.write(folder / "t.parquet")
    return Way(folder / "t.parquet")


def tabulation(folder: Path) -> Way:
    Tabulation.from_table(TABLE).write(folder / "t.parquet")
    return Way(folder / "t.parquet")


def tab(folder: Path) -> Way:
    write_tab(Tabulation.from_table(TABLE), folder / "t.tab")
    return Way(folder / "t.tab")


def other_metadata(folder: Path) -> Way:
    write_tab(Tabulation.from_table(TABLE), folder / "t.tab")
    rda = (folder / "t.rda").rename(folder / "other.rda")
    return Way(folder / "t.tab", ("--rda", str(rda)), {"rda": rda})


def records(folder: Path) -> Way:
    people().assign(name=range(PEOPLE)).to_csv(folder / "t.csv", index=False)
    return Way(folder / "t.csv", ("--by", "area,age"), {"by": ["area", "age"]})


def guessed(folder: Path) -> Way:
    people().to_csv(folder / "t.csv", index=False)
    return Way(folder / "t.csv")


def sheet(folder: Path) -> Way:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("area", "age", "count"), *long_rows()]:
        book.active.append(row)
    book.save(folder / "t.xlsx")
    return Way(folder / "t.xlsx")


WAYS: dict[str, Callable[[Path], Way]] = {
    "long": lambda folder: Way(long_text(folder)),
    "semicolon": lambda folder: Way(long_text(folder, ";")),
    "another separator": lambda folder: Way(long_text(folder, "|"), ("--delimiter", "|"), {"delimiter": "|"}),
    "with margins": lambda folder: Way(long_text(folder, total="Total")),
    "another total": lambda folder: Way(long_text(folder, total="All"), ("--total", "All"), {"total": "All"}),
    "another count": lambda folder: Way(long_text(folder, count="n"), ("--count", "n"), {"count": "n"}),
    "wide": wide,
    "parquet": parquet,
    "sheet": sheet,
    "tabulation": tabulation,
    "tab": tab,
    "tab with other metadata": other_metadata,
    "records": records,
    "rows that can only be records": guessed,
}

MAGNITUDES = ("tab", "tab with other metadata")
"""A .tab file always has a magnitude, which these judge in place of the counts."""
OF_COUNTS = ("sample", "protect", "assess", "compare")

See = Callable[[Path, Way], Any]


def ways(asking: str) -> dict[str, Callable[[Path], Way]]:
    return {name: write for name, write in WAYS.items() if asking not in OF_COUNTS or name not in MAGNITUDES}


def asked(*arguments: object) -> Any:
    outcome = run(*arguments)
    assert outcome.err == "", outcome
    return json.loads(outcome.out)


def plain(seen: Any) -> Any:
    """Figures to nine digits, and one name for all totals."""
    if isinstance(seen, float):
        return round(seen, 9)
    if isinstance(seen, Mapping):
        return {plain(key): plain(value) for key, value in seen.items()}
    if isinstance(seen, list | tuple):
        return tuple(plain(one) for one in seen)
    return "Total" if seen == "All" else seen


def slices(found: Any) -> Any:
    return {(one["dimension"], one["category"]): one["value"] for one in found["slices"]}


def sensitive(found: Any) -> Any:
    return found["cells"], sorted((sorted(one["cell"].items()), one["value"]) for one in found["sensitive"])


def rules_command(folder: Path, way: Way) -> Any:
    return sensitive(asked("rules", way.file, "--rule", "threshold=3", "--json", *way.options))


def suppress_command(folder: Path, way: Way) -> Any:
    status = folder / "status.csv"
    asked("protect", "suppress", way.file, "--rule", "threshold=3", "--status", status, "--json", *way.options)
    with status.open() as stream:
        return sorted((row["area"], row["age"], float(row["value"])) for row in csv.DictReader(stream))


def sample_command(folder: Path, way: Way) -> Any:
    """A sample of all people is the table itself."""
    out = folder / "out.csv"
    how = ("--sample-size", PEOPLE, "--seed", 1, "--trial", "-o", out, "--json")
    asked("protect", "random-sample", way.file, *how, *way.options)
    with out.open() as stream:
        rows = [(row["area"], row["age"], int(row["count"])) for row in csv.DictReader(stream)]
    return sorted(row for row in rows if not {"Total", "All"} & set(row[:2]))


def assess_command(folder: Path, way: Way) -> Any:
    how = ("--as-is", "--record", folder / "a.json", "--json", "--seed", 1, "--trial")
    found = json.loads(run("assess", way.file, *how, *way.options).out)
    return found["verdict"], found["rules"]["cells"], slices(found["before"])


def compare_command(folder: Path, way: Way) -> Any:
    how = ("--method", BASE[1], "--record", folder / "c.json", "--json", "--seed", 1, "--audits", 1)
    return first_point(json.loads(run("compare", way.file, *how, *way.options).out))


def first_point(found: Any) -> Any:
    return found["rules"]["cells"], found["points"][0]["r2"]


COMMANDS: dict[str, See] = {
    "risk": lambda _, way: slices(asked("risk", way.file, "--json", *way.options)),
    "estimate": lambda _, way: slices(
        asked("estimate", way.file, "-N", 900, "--draws", 4, "--seed", 1, "--json", *way.options)
    ),
    "uniques": lambda _, way: asked("uniques", way.file, "-N", 900, "--json", *way.options)["priors"],
    "uniques size": lambda _, way: asked(
        "uniques", "size", "--table", way.file, "-N", 900, "--at-most", 0.05, "--json", *way.options
    )["priors"],
    "rules": rules_command,
    "suppress": suppress_command,
    "sample": sample_command,
    "assess": assess_command,
    "compare": compare_command,
}


FUNCTIONS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "risk": lambda given, how: slices(dc.risk(given, **how).to_dict()),
    "expected_risk": lambda given, how: (
        dc.expected_risk(given, dc.protect.RandomRounding(3), draws=20, seed=1, **how).risk.mean
    ),
    "estimate": lambda given, how: slices(dc.estimate(given, 900, draws=4, seed=1, **how).to_dict()),
    "population_uniques": lambda given, how: dc.population_uniques(given, 900, **how).to_dict()["priors"],
    "information_loss": lambda given, how: dc.information_loss(given, TABLE, **how).utility,
    "sensitivity": lambda given, how: sensitive(dc.sensitivity(given, dc.rules.Threshold(3), **how).to_dict()),
    "suppress": lambda given, how: dc.suppress(given, dc.rules.Threshold(3), **how).pattern.counts,
    "assess": lambda given, how: slices(
        dc.assess(given, protection="none", seed=1, trial=True, **how).to_dict()["before"]
    ),
    "compare": lambda given, how: first_point(dc.compare(given, BASE[1:], seed=1, audits=1, **how).to_dict()),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_sees_the_same_table(command: str, tmp_path: Path) -> None:
    seen = {}
    for name, write in ways(command).items():
        folder = tmp_path / name
        folder.mkdir()
        seen[name] = plain(COMMANDS[command](folder, write(folder)))
    assert {name: one for name, one in seen.items() if one != seen["long"]} == {}
    assert seen["long"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_sees_the_same_table(function: str, tmp_path: Path) -> None:
    see = FUNCTIONS[function]
    seen = {"table": plain(see(TABLE, {})), "laid out": plain(see(Tabulation.from_table(TABLE), {}))}
    for name, write in ways(function).items():
        folder = tmp_path / name
        folder.mkdir()
        way = write(folder)
        seen[name] = plain(see(way.file, way.reading))
        seen[f"{name}, by its name"] = plain(see(str(way.file), way.reading))
    long = pd.DataFrame(long_rows(), columns=["area", "age", "count"])
    frames: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {"long": (long, {}), "rows": (people(), {})}
    frames["records"] = (people(), {"by": ["area", "age"]})
    frames["another count"] = (long.rename(columns={"count": "n"}), {"count": "n"})
    crossed = pd.DataFrame({"area": AREAS, **dict(zip(AGES, zip(*COUNTS, strict=True), strict=True))})
    frames["wide"] = (crossed, {"dimensions": ["area", "age"]})
    for name, (frame, how) in frames.items():
        seen[f"frame: {name}"] = plain(see(frame, how))
        seen[f"polars: {name}"] = plain(see(pl.from_pandas(frame), how))
        seen[f"arrow: {name}"] = plain(see(pl.from_pandas(frame).to_arrow(), how))
    assert {name: one for name, one in seen.items() if one != seen["table"]} == {}
    assert seen["table"] is not None


def without(name: Path, told: str) -> str:
    return told.replace(f"{name}: ", "").replace(str(name), "")


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_clear_is_refused_in_the_same_words(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(REFUSED[kind])
    told = {}
    for name, command in REFUSING.items():
        told[name] = without(file, refused(run(*command, file)))
    for name, see in FUNCTIONS.items():
        # Python names arguments, the command line its options; the rest is the same.
        with both_shown():
            with pytest.raises(DiscreetError) as error:
                see(file, {})
            told[f"dc.{name}"] = without(file, with_options(str(error.value)))
    assert len(set(told.values())) == 1, told


REFUSING: dict[str, list[object]] = {
    "risk": ["risk"],
    "estimate": ["estimate", "-N", 900],
    "uniques": ["uniques", "sample", "-N", 900],
    "uniques size": ["uniques", "size", "-N", 900, "--at-most", 0.05, "--table"],
    "rules": ["rules", "--rule", "threshold=3"],
    "suppress": ["protect", "suppress", "--rule", "threshold=3"],
    "round": ["protect", "random-rounding"],
    "assess": ["assess"],
    "compare": ["compare", "--method", BASE[1]],
}
STRAY: dict[str, tuple[list[str], str]] = {
    "a contributor without records": (["--contributor", "id"], "contributor is about records"),
    "a value without records": (
        ["--value", "v"],
        "names a magnitude of records or of a tabulation; a table holds counts",
    ),
    "rows of a table as records": (["--by", "area"], "column 'count' looks like the counts of a table"),
    "a hierarchy that is not a file": (["--hierarchy", "area"], "--hierarchy is 'area'; give it as region=nuts.hrc"),
    "a hierarchy of nothing": (["--hierarchy", "aera=NUTS"], "the table has no dimension 'aera'; did you mean 'area'?"),
    "a total of no kind": (["--margins", "ignore"], "margins is 'ignore'; give 'check' or 'recompute'"),
}


@pytest.mark.parametrize("stray", STRAY)
def test_what_does_not_fit_is_refused_in_the_same_words(stray: str, tmp_path: Path) -> None:
    file, tree = long_text(tmp_path), text_file(tmp_path / "nuts.hrc", ["N", "@n", "@w", "S", "@s"])
    options, message = STRAY[stray]
    given = [option.replace("NUTS", str(tree)) for option in options]
    told = {}
    for name, command in REFUSING.items():
        if name.startswith("uniques") and stray == "rows of a table as records":
            continue
        told[name] = without(file, refused(run(*command, file, *given)))
    assert len(set(told.values())) == 1, told
    assert message in told["risk"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_release_is_no_original(ending: str, tmp_path: Path) -> None:
    """Only a sample may be one that was released: it is what will be published, not what is protected."""
    file = tmp_path / f"release{ending}"
    dc.protect.random_sample(TABLE, 40, seed=1).write(file, trial=True)
    for name, command in REFUSING.items():
        outcome = run(*command, file)
        if name in ("estimate", "uniques", "uniques size"):
            assert outcome.code == 0, outcome
        else:
            assert "holds a release" in refused(outcome), name
    frame = pd.read_csv(file) if ending == ".csv" else None
    for name, see in FUNCTIONS.items():
        for given in [file] if frame is None else [file, frame, pl.from_pandas(frame)]:
            if name in ("estimate", "population_uniques"):
                assert see(given, {})
            else:
                with pytest.raises(dc.RequestError, match="holds a release"):
                    see(given, {})


FIRMS = pd.DataFrame(
    {
        "region": ["n1", "n1", "n2", "n2", "s1", "s1", "s1", "s2"] * 3,
        "size": ["a", "b", "c"] * 8,
        "turnover": [59, 40, 1, 61, 20, 19, 5, 8, 300, 4, 6, 7, 80, 2, 1, 9, 11, 12, 13, 14, 15, 16, 17, 18],
        "id": [f"f{i % 17}" for i in range(24)],
    }
)
REGIONS = ["N", "@n1", "@n2", "S", "@s1", "@s2"]


def test_magnitudes_and_groups_are_read_the_same(tmp_path: Path) -> None:
    tree = text_file(tmp_path / "nuts.hrc", REGIONS)
    how: dict[str, Any] = {"by": ["region", "size"], "value": "turnover", "contributor": "id"}
    options: list[object] = ["--by", "region,size", "--value", "turnover", "--contributor", "id"]
    options += ["--hierarchy", f"region={tree}"]
    FIRMS.to_csv(tmp_path / "firms.csv", index=False)
    made = dc.tabulate(FIRMS, **how, hierarchies={"region": tree})
    made.write(tmp_path / "firms.parquet")
    rule = dc.rules.PPercent(10)
    seen = [
        dc.sensitivity(made, rule).to_dict(),
        dc.sensitivity(tmp_path / "firms.parquet", rule).to_dict(),
        dc.sensitivity(tmp_path / "firms.parquet", rule, value="turnover").to_dict(),
        dc.sensitivity(FIRMS, rule, **how, hierarchies={"region": tree}).to_dict(),
        dc.sensitivity(pl.from_pandas(FIRMS), rule, **how, hierarchies={"region": [str(tree)]}).to_dict(),
        dc.sensitivity(tmp_path / "firms.csv", rule, **how, hierarchies={"region": dc.read_hierarchy(tree)}).to_dict(),
        asked("rules", tmp_path / "firms.parquet", "--rule", "p=10", "--json"),
        asked("rules", tmp_path / "firms.csv", "--rule", "p=10", "--json", *options),
    ]
    assert [sensitive(one) for one in seen] == [sensitive(seen[0])] * len(seen)
    assert seen[0]["sensitive"]
    status = []
    both: list[list[object]] = [[tmp_path / "firms.parquet"], [tmp_path / "firms.csv", *options]]
    for number, arguments in enumerate(both):
        out = tmp_path / f"{number}.csv"
        assert run("protect", "suppress", *arguments, "--rule", "p=10", "--status", out).code == 0
        status.append(out.read_text())
    assert status[0] == status[1]
    for see in (dc.risk, dc.information_loss):
        given = {**how, "hierarchies": {"region": tree}}
        with pytest.raises(dc.RequestError, match="'turnover' is a magnitude; leave value out"):
            see(*([FIRMS] if see is dc.risk else [FIRMS, TABLE]), **given)


def test_groups_of_a_table_are_cells_for_every_reader(tmp_path: Path) -> None:
    tree = text_file(tmp_path / "nuts.hrc", ["N", "@n", "@w", "S", "@s"])
    file, zeros = long_text(tmp_path), text_file(tmp_path / "zeros.csv", ["area,age", "e,x"])
    text_file(file, [*file.read_text().splitlines(), "e,x,0", "e,y,1", "e,z,9"])
    text_file(tree, [*tree.read_text().splitlines(), "@e"])
    how: dict[str, Any] = {"hierarchies": {"area": tree}, "impossible": zeros}
    options: list[object] = ["--hierarchy", f"area={tree}", "--impossible", zeros]
    table = dc.read_table(file, impossible=zeros)
    expected = Tabulation.from_table(table, hierarchies={"area": dc.read_hierarchy(tree)})
    rule = dc.rules.Threshold(3)
    found = sensitive(dc.sensitivity(expected, rule).to_dict())
    assert sensitive(dc.sensitivity(file, rule, **how).to_dict()) == found
    assert sensitive(dc.sensitivity(pd.read_csv(file), rule, **how).to_dict()) == found
    assert sensitive(asked("rules", file, "--rule", "threshold=3", "--json", *options)) == found
    record = tmp_path / "a.json"
    assessed = run("assess", file, "--as-is", "--record", record, "--seed", 1, "--trial", "--json", *options)
    assert json.loads(assessed.out)["rules"]["cells"] == len(expected)
    # Structural zeros are kept beside the groups.
    risk = dc.risk(dc.read_table(file, impossible=zeros)).value
    assert dc.risk(file, **how).value == risk == asked("risk", file, "--json", *options)["value"]
    assert json.loads(assessed.out)["before"]["value"] == risk
    assert {one["role"] for one in json.loads(record.read_text())["input"]["files"]} == {
        "original", "hierarchy area 1", "impossible"
    }  # fmt: skip
    assert dc.replay(record).identical


def figures(release: dc.Release) -> list[Any]:
    return [
        (part.names, part.labels, part.codes.tolist(), part.values.tolist(), part.hidden.tolist())
        for part in release.parts()
    ]


def test_every_protection_takes_files_and_frames(tmp_path: Path) -> None:
    file = long_text(tmp_path, count="n")
    frame = pd.read_csv(file)
    verbs: dict[Callable[..., Any], dict[str, Any]] = {
        dc.protect.bernoulli_sample: {"rate": 0.5, "seed": 1},
        dc.protect.cell_key: {"seed": 1},
        dc.protect.controlled_rounding: {},
        dc.protect.conventional_rounding: {"margins": True},
        dc.protect.hide_and_round: {},
        dc.protect.random_rounding: {"margins": True, "seed": 1},
        dc.protect.random_sample: {"n": 30, "seed": 1},
        dc.protect.record_swapping: {"area": "area", "seed": 1},
        dc.protect.semi_controlled_rounding: {"seed": 1},
        dc.protect.simulation: {"seed": 1},
        dc.protect.small_count_rounding: {},
        dc.protect.stratified_sample: {"by": "area", "fraction": 0.5, "seed": 1},
        dc.protect.table_swapping: {"seed": 1},
    }
    for verb, how in verbs.items():
        shown = figures(verb(TABLE, **how))
        for given in (file, frame, pl.from_pandas(frame)):
            assert figures(verb(given, **how, count="n")) == shown, verb
    together = dc.protect.random_rounding([file, frame], count="n", margins=True, seed=1)
    assert figures(together)[0] == figures(together)[1]


def known(audit: Any) -> Any:
    return sorted((sorted(one["cell"].items()), one["lower"], one["upper"]) for one in audit["cells"])


def test_audits_and_ledgers_read_what_is_published_the_same(tmp_path: Path) -> None:
    done = dc.suppress(TABLE, dc.rules.Threshold(3))
    file = tmp_path / "release.csv"
    done.release.write(file)
    frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    truth, laid = long_text(tmp_path), tabulation(tmp_path).file
    audits = [
        dc.audit(done.release, original=TABLE),
        dc.audit(file, original=truth),
        dc.audit([str(file)], original=pd.read_csv(truth)),
        dc.audit(frame, original=laid),
        dc.audit([pl.from_pandas(frame)], original=TABLE),
    ]
    intervals = [known(found.to_dict()) for found in audits]
    assert intervals == [intervals[0]] * len(intervals)
    assert intervals[0]
    for original in (truth, laid):
        assert known(json.loads(run("audit", file, "--original", original, "--json").out)) == intervals[0]
    wrong = text_file(tmp_path / "wrong.csv", ["area,age,mean,count", "n,x,1.5,3", "n,y,2.5,4"])
    ledger = tmp_path / "l.sqlite"
    with dc.Ledger(ledger) as book:
        book.add(dc.read_release(file), title="areas by age")
        with pytest.raises(dc.RequestError, match="in the ledger already"):
            book.add(file, title="areas by age")
        checks = [book.check(given, title="again").to_dict() for given in (dc.read_release(file), file, str(file))]
    assert checks == [checks[0]] * 3
    told = {
        refused(run("audit", wrong)),
        refused(run("ledger", "check", wrong, "--ledger", ledger)),
        refused(run("ledger", "add", wrong, "--ledger", ledger)),
        refused(run("assess", truth, "--released", wrong, "--record", tmp_path / "a.json")),
    }
    assert len(told) == 1


def test_options_of_the_front_door_are_the_attributes_of_a_reading() -> None:
    assert get_type_hints(Reading) == get_type_hints(ReadingOptions)
    # The clock of all searches together is not the user's.
    options = WorkOptions.__annotations__.keys() | DrawOptions.__annotations__.keys()
    assert get_type_hints(Effort).keys() - {"clock"} == options


@pytest.mark.parametrize(
    ("function", "option"),
    [(dc.estimate, "time_limit"), (dc.population_uniques, "time_limit"), (dc.assess, "tries"), (dc.compare, "worker")],
)
def test_an_option_of_other_functions_is_refused(function: Callable[..., object], option: str) -> None:
    with pytest.raises(dc.RequestError, match=f"there is no argument '{option}'"):
        function(dc.datasets.sex(), *([10_000] if "time" in option else []), **{option: 5})


def test_a_sample_of_records_of_one_person_in_several_rows_is_refused() -> None:
    """A visitor who came twice is alone all the same."""
    visits = pd.DataFrame({"age": ["old", "old", "young"], "person_id": [1, 1, 2]})
    with pytest.raises(
        dc.DataError, match=r"column 'person_id' has 2 different entries in 3 records.* keep one for each"
    ):
        dc.population_uniques(visits, 50, by=["age"])
    assert dc.population_uniques(visits, 50, by=["age"], contributor="").sample_uniques == 1
    assert dc.population_uniques(visits[1:], 50, by=["age"]).sample_uniques == 2


def test_a_tab_file_of_a_release_is_read_in_python_too(tmp_path: Path) -> None:
    hidden = dc.suppress(TABLE, "threshold=3").release
    hidden.write(tmp_path / "r.tab")
    assert dc.read_release(tmp_path / "r.tab").parts()[0].hidden.sum() == hidden.parts()[0].hidden.sum() > 0
    assert dc.audit(dc.read_release(tmp_path / "r.tab")).verdict == dc.audit(tmp_path / "r.tab").verdict
    with pytest.raises(dc.RequestError, match="leave it out"):
        dc.read_release(tmp_path / "r.tab", total="All")


@pytest.mark.parametrize(
    ("asked", "misspelt", "meant"),
    [
        (lambda **given: dc.risk(TABLE, **given), "formm", "form"),
        (lambda **given: dc.assess(TABLE, **given), "drawz", "draws"),
        (lambda **given: dc.compare(TABLE, **given), "drawz", "draws"),
        (lambda **given: dc.compare(TABLE, **given), "time_limits", "time_limit"),
        (lambda **given: dc.estimate(TABLE, 1000, **given), "drawz", "draws"),
        (lambda **given: dc.population_uniques(TABLE, 1000, **given), "prior", "priors"),
        (lambda **given: dc.sensitivity(TABLE, "threshold=3", **given), "combined", "combine"),
        (lambda **given: dc.information_loss(TABLE, TABLE, **given), "delimeter", "delimiter"),
    ],
)
def test_a_misspelt_argument_is_told_from_a_function_s_own(
    asked: Callable[..., Any], misspelt: str, meant: str
) -> None:
    with pytest.raises(dc.RequestError, match=f"there is no argument '{misspelt}'; did you mean '{meant}'"):
        asked(**{misspelt: 3})
