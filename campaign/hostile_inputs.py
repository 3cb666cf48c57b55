"""Files and options as nobody should write them, and whole files with bits, bytes or words changed or cut off."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from campaign.outcomes import Tally, command, fault

CELLS = [f"{a},{s},{7 * i + 3 * j + 1}" for i, a in enumerate("abcd") for j, s in enumerate("mf")]
TABLE = "\n".join(["area,sex,count", *CELLS]) + "\n"
FIRMS = "region,firm,turnover\n" + "".join(f"{'abcd'[i % 4]},f{i},{(i * 37) % 90 + 1}\n" for i in range(24))
POLICY = """title = "own"
allow = "any"
weights = [0.1, 0.8, 0.1]
[rules]
threshold = 3
[[rules.dominance]]
n = 1
k = 75
[limits]
r2 = 0.5
dr = 0.7
[[protections]]
name = "random-rounding"
base = 3
"""
PLAN = """title = "people"
policy = "census"
period = "2025"
population = "residents"
ledger = "plan.sqlite"
[records]
files = ["firms.csv"]
contributor = "firm"
[dimensions.region]
hierarchy = "regions.hrc"
levels = ["part", "region"]
[[tables]]
name = "T1"
by = ["region"]
[[tables]]
name = "T2"
by = ["part"]
[output]
folder = "planned"
formats = ["csv", "xlsx"]
workbook = true
[output.presentation]
title = "Own"
[output.presentation.symbols]
suppressed = "[c]"
"""
LAYOUT = 'title = "Own"\nnotes = ["one"]\ncolumns = ["sex"]\n[symbols]\nsuppressed = "[c]"\n'
ZONES = json.dumps(
    {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"code": area},
                "geometry": {"type": "Polygon", "coordinates": [[[i, 0], [i + 1, 0], [i + 1, 1], [i, 1], [i, 0]]]},
            }
            for i, area in enumerate("abcd")
        ],
    }
)
NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e400",
    "100000000000000000000",
    "1e308",
    "0x10",
    "1_000",
    "",
    "½",
    "٣",
    "--",
    "1,5",
)
WORDS = (
    "",
    "\0",
    "é",
    "=1+1",
    "\x1b[2J",
    "a" * 5000,
    "null",
    "[]",
    "{}",
    "true",
    "-1",
    "nan",
    "1e999",
    "99999999999999999999",
)
COMMANDS: dict[str, tuple[tuple[object, ...], ...]] = {
    "table.csv": (("risk",), ("assess",), ("inspect",), ("protect", "random-rounding"), ("audit",), ("ledger", "add")),
    "table.parquet": (("risk",), ("inspect",), ("protect", "conventional-rounding")),
    "table.xlsx": (("risk",), ("inspect",), ("audit",)),
    "release.csv": (("audit",), ("ledger", "add"), ("inspect",)),
    "release.parquet": (("audit",), ("ledger", "add"), ("inspect",)),
    "release.xlsx": (("audit",), ("inspect",), ("risk", "table.csv", "--released=release.xlsx")),
    "sdmx.csv": (("audit",), ("inspect",)),
    "flags.csv": (("audit",), ("ledger", "add")),
    "release.tab": (("audit",),),
    "layout.toml": (("protect", "random-rounding", "table.csv", "--presentation=layout.toml", "-o", "l.csv"),),
    "zones.geojson": (("geography", "table.csv", "--shapes=area=zones.geojson", "--map=zones.svg"),),
    "plan.toml": (("plan", "check"), ("plan", "run", "plan.toml", "-o", "planned")),
    "record-of-plan.json": (("plan", "run", "plan.toml", "-o", "again", "--previous", "before"),),
    "cells.parquet": (("rules", "--rule=p=10"), ("assess", "--policy=business"), ("inspect",)),
    "firms.csv": (("tabulate", "--by=region", "--value=turnover"), ("assess", "--by=region", "--value=turnover")),
    "cells.tab": (("rules", "--rule=p=10"), ("inspect",)),
    "cells.rda": (("rules", "--rule=p=10", "cells.tab"), ("inspect", "cells.tab")),
    "regions.hrc": (("risk", "firms-table.csv", "--hierarchy=region=regions.hrc"),),
    "policy.toml": (
        ("assess", "table.csv", "--policy=policy.toml"),
        ("compare", "table.csv", "--method=none", "--policy=policy.toml"),
    ),
    "grid.toml": (("compare", "table.csv", "--grid=grid.toml", "--draws=2", "--audits=1"),),
    "ptable.csv": (("protect", "cell-key", "table.csv", "--ptable=ptable.csv"),),
    "data.json": (("report", "-o", "again.html"),),
    "record.json": (("replay",),),
    "ledger.sqlite": (
        ("ledger", "list", "--ledger=ledger.sqlite"),
        ("ledger", "check", "table.csv", "--ledger=ledger.sqlite"),
    ),
}
"""The commands that read each file; one that names no file gets it behind its words."""


def write_files(folder: Path) -> None:
    """Write one whole file of every format."""
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    (folder / "firms.csv").write_text(FIRMS, encoding="utf-8")
    (folder / "firms-table.csv").write_text("region,count\na,4\nb,9\nc,3\nd,12\n", encoding="utf-8")
    (folder / "regions.hrc").write_text("north\n@a\n@b\nsouth\n@c\n@d\n", encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    (folder / "layout.toml").write_text(LAYOUT, encoding="utf-8")
    (folder / "zones.geojson").write_text(ZONES, encoding="utf-8")
    (folder / "grid.toml").write_text('[[methods]]\nname = "random-rounding"\nbase = [3, 5]\n', encoding="utf-8")
    made = [
        ("protect", "random-rounding", "table.csv", "-o", "release.csv"),
        ("protect", "random-rounding", "table.csv", "-o", "release.parquet"),
        ("protect", "random-rounding", "table.csv", "-o", "release.xlsx"),
        ("protect", "random-rounding", "table.csv", "-o", "sdmx.csv", "--format", "sdmx-csv"),
        ("protect", "random-rounding", "table.csv", "-o", "flags.csv", "--format", "flags"),
        ("protect", "suppress", "table.csv", "--rule", "threshold=3", "-o", "release.tab"),
        (
            "tabulate",
            "firms.csv",
            "--by",
            "region",
            "--value",
            "turnover",
            "--contributor",
            "firm",
            "-o",
            "cells.parquet",
        ),
        ("tabulate", "firms.csv", "--by", "region", "--value", "turnover", "-o", "cells.tab"),
        ("protect", "ptable", "-o", "ptable.csv"),
        ("assess", "table.csv", "--record", "record.json", "--report", "data.json"),
        ("ledger", "add", "release.csv", "--ledger", "ledger.sqlite"),
        ("plan", "run", "plan.toml", "-o", "before"),
    ]
    for arguments in made:
        code, _, err = command(arguments)
        if code not in (0, 1):
            raise SystemExit(f"{arguments}: {err}")
    # A plan finds the record of its last run in a folder.
    record = folder / "before" / "record.json"
    record.replace(folder / "record-of-plan.json")
    record.symlink_to(folder / "record-of-plan.json")
    pq.write_table(pa.table({"area": ["a", "b"], "count": [3, 9]}), folder / "table.parquet")
    write_workbook(folder / "table.xlsx", [["area", "count"], ["a", 3], ["b", 9]])


def write_workbook(path: Path, rows: Sequence[Sequence[object]]) -> None:
    """Write rows as the only sheet of a workbook."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    book.save(path)


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Return a file with bits flipped, its end cut off, a part repeated or removed, or a word replaced."""
    data = bytearray(content)
    kind = draw.randrange(6)
    at = draw.randrange(len(data))
    if kind == 0:
        for _ in range(draw.choice((1, 1, 1, 8, 64))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        del data[at : at + draw.randrange(1, 40)]
    elif kind == 3:
        data[at:at] = data[at : at + draw.randrange(1, 40)]
    elif kind == 4:
        data[at : at + draw.randrange(4)] = draw.choice((*NUMBERS, *WORDS)).encode()
    else:
        words = bytes(data).replace(b",", b" ,").split(b" ")
        words[draw.randrange(len(words))] = draw.choice((*NUMBERS, *WORDS)).encode()
        data = bytearray(b" ".join(words).replace(b" ,", b","))
    return bytes(data)


def mutated_json(content: bytes, draw: random.Random) -> bytes:
    """Return JSON in which one value is another: what flips of bits seldom leave readable."""
    data = json.loads(content)
    at, key = data, draw.choice(list(data))
    while isinstance(at[key], dict | list) and at[key] and draw.random() < 0.8:
        at = at[key]
        key = draw.choice(list(at)) if isinstance(at, dict) else draw.randrange(len(at))
    strange: tuple[object, ...] = (None, -1, 0, 1.5, 1e308, 10**30, "", "x", [], {}, [[]], True, [None], {"a": 1})
    if draw.random() < 0.2:
        del at[key]
    else:
        at[key] = draw.choice(strange)
    return json.dumps(data).encode()


def mutated_workbook(content: bytes, draw: random.Random) -> bytes:
    """Return a workbook of a release in which one cell, or one value of a note, is another."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(content))
    notes = book["Technical notes"]
    if draw.random() < 0.6:
        text = str(notes["C4"].value).removeprefix("json ")
        notes["C4"] = f"json {mutated_json(text.encode(), draw).decode()}"
    else:
        page = draw.choice(book.worksheets)
        cell = page.cell(draw.randrange(1, page.max_row + 1), draw.randrange(1, page.max_column + 1))
        cell.value = draw.choice((None, -1, 1.5, 10**20, "x", "", "nan", "i 3 to 1", True))
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def mutations(tally: Tally, folder: Path, each: int, seed: int) -> None:
    """Read every format with changed files."""
    for name, commands in COMMANDS.items():
        whole = (folder / name).read_bytes()
        draw = random.Random(f"{seed} {name}")
        changes: list[Callable[[bytes, random.Random], bytes]] = [mutated]
        changes += [mutated_json, mutated_json] if name.endswith((".json", ".geojson")) else []
        changes += [mutated_workbook, mutated_workbook] if name == "release.xlsx" else []
        for _ in range(each):
            (folder / name).write_bytes(draw.choice(changes)(whole, draw))
            chosen = draw.choice(commands)
            named = any(Path(str(one)).suffix not in ("", ".html") for one in chosen)
            tally.note(f"changed {name}", fault(chosen if named else (*chosen, name)))
        (folder / name).write_bytes(whole)


def odd_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield files that are whole, and odd."""
    columns: dict[str, object] = {
        "nested": pa.table({"area": [["a"], ["b"]], "count": [1, 2]}),
        "struct": pa.table({"area": [{"x": 1}, {"x": 2}], "count": [1, 2]}),
        "map": pa.table({"area": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())), "count": [1, 2]}),
        "twice": pa.Table.from_arrays(
            [pa.array(["a"]), pa.array(["b"]), pa.array([1])], names=["area", "area", "count"]
        ),
        "binary": pa.table({"area": [b"\xff", b"b"], "count": [1, 2]}),
        "dates": pa.table({"area": pa.array([1, 2], pa.timestamp("ns")), "count": [1, 2]}),
        "seconds": pa.table({"area": ["a", "b"], "count": pa.array([1, 2], pa.duration("s"))}),
        "flags": pa.table({"area": [True, False], "count": [True, False]}),
        "null": pa.table({"area": pa.nulls(2), "count": pa.nulls(2)}),
        "half": pa.table({"area": ["a", "b"], "count": pa.array([1.0, 2.0], pa.float16())}),
        "decimal": pa.table({"area": ["a", "b"], "count": pa.array([1, 2], pa.decimal128(38, 20))}),
        "unsigned": pa.table({"area": ["a", "b"], "count": pa.array([2**64 - 1, 1], pa.uint64())}),
        "no rows": pa.table({"area": pa.array([], pa.string()), "count": pa.array([], pa.int64())}),
        "no columns": pa.table({}),
        "wide": pa.table({f"c{i}": [1, 2] for i in range(5000)}),
        "noted": pa.table({"area": ["a"], "count": [1]}).replace_schema_metadata({"discreet": "{"}),
        "noted null": pa.table({"area": ["a"], "count": [1]}).replace_schema_metadata({"discreet": "null"}),
        "noted list": pa.table({"area": ["a"], "count": [1]}).replace_schema_metadata({"discreet": "[]"}),
        "decimals": _noted(folder / "release.parquet", decimals=2 * 10**8),
        "negative decimals": _noted(folder / "release.parquet", decimals=-3),
        "base": _noted(folder / "release.parquet", kinds=[{"name": "random", "base": 10**20}] * 3),
        "huge top": _noted(folder / "cells.parquet", top=10**9),
        "dropped": _noted(folder / "cells.parquet", dropped=1e400),
    }
    for name, table in columns.items():
        pq.write_table(table, folder / "odd.parquet")
        yield name, folder / "odd.parquet"
    texts = {
        "wide": ",".join(f"c{i}" for i in range(5000)) + "\n" + ",".join("1" * 5000) + "\n",
        "wide and empty": "," * 5000 + "\n",
        "twice": "area,area,count\na,b,1\n",
        "quotes": '"area,count\n"a,1\n',
        "deep quotes": 'area,count\n"""""a""",1\n',
        "base": "area,count,published_as\na,3,random base=100000000000000000000\n",
        "rows": "area,count,published_as\na,3,random base=3 rows=99999999999999999999999\n",
        "kind": "area,count,published_as\na,3,perturbed bound=1e400\n",
        "law": "area,count,published_as\na,3,perturbed law=1\n",
        "ends": "area,count,lower,upper\na,x,99999999999999999999,1\n",
        "notes": "area,count\na,3\nSource: us,\n",
        "digits": "area,count\na," + "9" * 400 + "\n",
        "decimals": "area,count\na,0." + "1" * 400 + "\n",
        "one line": "area,count",
        "only commas": ",,,\n,,,\n",
        "marks": "\ufeff\ufeffarea,count\na,1\n",
        "long": "area,count\n" + "a" * 10**6 + ",1\n",
        "same": "area,count\n" + "a,1\n" * 50,
    }
    for name, text in texts.items():
        (folder / "odd.csv").write_text(text, encoding="utf-8")
        yield name, folder / "odd.csv"
    sheets: dict[str, list[list[object]]] = {
        "wide": [[f"c{i}" for i in range(5000)], [1] * 5000],
        "twice": [["area", "area", "count"], ["a", "b", 1]],
        "no header": [[None, None], [1, 2]],
        "large": [["area", "count"], ["a", 1e300]],
        "texts": [["area", "count"], ["a", "x" * 30000]],
        "empty": [[]],
    }
    for name, rows in sheets.items():
        write_workbook(folder / "odd.xlsx", rows)
        yield name, folder / "odd.xlsx"
    for name, members in {
        "no book": {},
        "empty parts": {"xl/workbook.xml": b""},
        "bomb": {"xl/x": b"0" * 10**7},
    }.items():
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        (folder / "odd.xlsx").write_bytes(stream.getvalue())
        yield name, folder / "odd.xlsx"


def _noted(path: Path, **changed: object) -> pa.Table:
    """Return a file of discreet's own with other words in its note."""
    whole = pq.read_table(path)
    note = json.loads(whole.schema.metadata[b"discreet"]) | changed
    return whole.replace_schema_metadata({"discreet": json.dumps(note)})


READERS: tuple[tuple[str, ...], ...] = (
    ("risk",),
    ("inspect",),
    ("audit",),
    ("ledger", "add", "--ledger=odd.sqlite"),
    ("assess",),
    ("rules", "--rule=p=10"),
    ("tabulate", "--by=area"),
)
"""Commands that take a table, a release or records."""


def odd(tally: Tally, folder: Path, names: Sequence[str] = ()) -> None:
    """Read odd files, by default all of them, with every command that takes any."""
    for name, file in odd_files(folder):
        for words in READERS if not names or name in names else ():
            told = fault((*words, file.name))
            tally.note("odd files", f"{name}: {told}" if told else "")
        (folder / "odd.sqlite").unlink(missing_ok=True)


OPTIONS: tuple[tuple[object, ...], ...] = (
    ("protect", "random-rounding", "table.csv", "--base"),
    ("protect", "controlled-rounding", "table.csv", "--base"),
    ("protect", "cell-key", "table.csv", "--bound"),
    ("protect", "cell-key", "table.csv", "--variance"),
    ("protect", "random-sample", "table.csv", "--sample-size"),
    ("protect", "random-sample", "table.csv", "--fraction"),
    ("protect", "suppress", "table.csv", "--rule"),
    ("protect", "random-rounding", "table.csv", "--trial", "--seed"),
    ("estimate", "table.csv", "--draws=10", "-N"),
    ("assess", "table.csv", "--draws=10", "--population-size"),
    ("assess", "table.csv", "--time-limit"),
    ("assess", "table.csv", "--policy"),
    ("assess", "table.csv", "--top"),
    ("compare", "table.csv", "--method=none", "--audits"),
    ("audit", "release.csv", "--published-as"),
    ("audit", "release.csv", "--least"),
    ("audit", "release.csv", "--min-width"),
    ("audit", "release.csv", "--max-dr"),
    ("audit", "release.csv", "--mark"),
    ("ledger", "add", "table.csv", "--ledger=odd.sqlite", "--published-as"),
    ("ledger", "check", "table.csv", "--ledger=ledger.sqlite", "--min-width"),
    ("ledger", "check", "table.csv", "--ledger=ledger.sqlite", "--threshold"),
    ("ledger", "check", "table.csv", "--ledger=ledger.sqlite", "--time-limit"),
    ("ledger", "check", "table.csv", "--ledger=ledger.sqlite", "--fewest"),
    ("ledger", "add", "table.csv", "--ledger=odd.sqlite", "--title"),
    ("ledger", "verify", "--ledger=ledger.sqlite", "--head"),
    ("risk", "table.csv", "--weights"),
    ("risk", "table.csv", "--encoding"),
    ("risk", "table.csv", "--delimiter"),
    ("risk", "table.csv", "--dimensions"),
    ("risk", "table.csv", "--total"),
    ("risk", "table.csv", "-o"),
    ("rules", "cells.parquet", "--rule"),
    ("protect", "chain", "table.csv", "--step=table-swapping", "--step=random-rounding", "--step"),
    ("protect", "random-rounding", "table.csv", "-o", "odd.csv", "--format"),
    ("protect", "random-rounding", "table.csv", "-o", "odd.csv", "--presentation"),
    ("geography", "table.csv", "--threshold"),
    ("geography", "table.csv", "--shapes"),
    ("geography", "table.csv", "--map"),
    ("assess", "table.csv", "--report=odd.html", "--head-of"),
    ("plan", "run", "plan.toml", "-o", "planned", "--previous"),
    ("plan", "run", "plan.toml", "--trial", "-o", "planned", "--seed"),
    ("workbench", "--port"),
    ("report", "data.json", "-o"),
)
"""Options that take a number or a word, each last in its command."""
SERVED = {"0", "1_000", ""}
"""Ports on which a workbench would start."""


def options(tally: Tally, values: Sequence[str] = ()) -> None:
    """Give every option what it cannot take."""
    rules = [f"{name}={n}" for n in NUMBERS[:4] for name in ("p", "threshold", "base")]
    for *words, option in OPTIONS:
        for value in values or dict.fromkeys((*NUMBERS, *WORDS, *rules)):
            if words[0] != "workbench" or value not in SERVED:
                given = [f"{option}={value}"] if str(option).startswith("--") else [option, value]
                tally.note("options", fault([*words, *given]))


def hostile_inputs(folder: Path, each: int, seed: int) -> Tally:
    """Try everything in a folder, which must be the current one; ``each`` format is changed so many times."""
    tally = Tally()
    write_files(folder)
    mutations(tally, folder, each, seed)
    odd(tally, folder)
    options(tally)
    return tally
