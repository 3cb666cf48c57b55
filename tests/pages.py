"""Pages of the documentation, run from top to bottom: Python and commands in the order in which a reader meets them."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv
from pyarrow import parquet as pq
from tests.cli.running import Outcome, run

import discreet

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|console|)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVES = ("workbench",)
"""Commands that run until they are stopped."""
BANDS = {
    "region": ["N1", "N2", "S1"],
    "area": ["a", "b", "c"],
    "activity": ["4", "5", "6", "7"],
    "size": ["5", "6", "7"],
    "sex": ["f", "m"],
    "age": ["0", "20", "40", "65"],
}
"""The dimensions of all tables of counts, which are sums of one table."""
TABLES = {
    "sample": ("area", "sex", "age"),
    "small": ("region", "sex", "age"),
    "counts": ("region", "sex"),
    "age": ("area", "age"),
    "sex": ("area", "sex"),
    "as": ("activity", "size"),
    "ar": ("activity", "region"),
    "sr": ("size", "region"),
}
"""Tables of counts by their dimensions."""
MADE = {
    "table": ("region", "activity"),
    "firms": ("region", "activity"),
    "turnover": ("activity", "size"),
    "as": ("activity", "size"),
    "ar": ("activity", "region"),
}
"""Tables of turnover by their dimensions."""
ENTRY = "3f2a91"
"""What pages call the entry of a ledger, whose name depends on the day."""
NOT_RUN = ("country.tab", "users.csv")
"""Files that are not prepared; commands that name one are only checked for their options."""
LEFT_OUT = "…"
"""Stands for any text in what a page shows: random draws, and what is too long to show."""


TEXTS = {
    "table.csv": """activity\\size,4,5,6,7,8,Total
"2,3",80,253,54,0,0,387
4,641,3694,2062,746,0,7143
5,592,x,329,x,1440,3898
6,57,x,946,x,2027,4281
7,78,0,890,1719,1743,4430
Total,1448,4353,4281,4847,5210,20139
""",
    "nace.hrc": "I\n@4\n@5\nII\n@6\n@7\n",
    "nuts.hrc": "N\n@N1\n@N2\nS\n@S1\n",
    "key.txt": "a secret of this page alone\n" * 4,
    "activity.csv": "activity,size,count\n1,4,3\n1,5,12\n1,6,40\n2,4,0\n2,5,7\n2,6,31\n3,4,15\n3,5,0\n3,6,0\n",
    "shares.csv": "area,sex,count,pct\na,f,12,30.0\na,m,28,70.0\nb,f,x,40.0\nb,m,x,60.0\n",
    "districts.csv": "area,sex,count\nnorth,f,70\nnorth,m,60\nsouth,f,50\nsouth,m,55\n",
    "zones.csv": "area,sex,count\ncoast,f,40\ncoast,m,58\ninland,f,80\ninland,m,57\n",
    "firm-numbers.csv": "area,count\nn,2\ns,40\nTotal,42\n",
    "firm-turnover.csv": "area,size,value\nn,small,x\nn,large,x\ns,small,300\ns,large,900\nTotal,Total,1700\n",
    "first_true.csv": "area,sex,count\nn,f,12\nn,m,2\ne,f,31\ne,m,25\ns,f,1\ns,m,18\n",
    "final_true.csv": "area,sex,count\nn,f,15\nn,m,2\ne,f,31\ne,m,25\ns,f,2\ns,m,17\n",
    "districts.hrc": "north\n@s1\n@s2\n@s3\nsouth\n@s4\n@s5\n",
    "zones.hrc": "coast\n@s1\n@s2\ninland\n@s3\n@s4\n@s5\n",
}
"""Files that pages name: tables of the guide to the audit and the ledger, versions, hierarchies, a secret."""


@dataclass(frozen=True)
class Command:
    """A command on a page, and the output that the page shows; empty if it shows none."""

    line: str
    shown: str

    @property
    def words(self) -> list[str]:
        """The arguments of ``discreet``."""
        return shlex.split(self.line, comments=True)[1:]

    def agrees(self, done: Outcome) -> bool:
        """Say whether the output is what the page shows, however lines are wrapped."""
        parts = [re.escape(" ".join(part.split())) for part in self.shown.split(LEFT_OUT)]
        return re.fullmatch(r"\s?.*?\s?".join(parts), " ".join(done.out.split()), re.DOTALL) is not None


def steps(text: str) -> Iterator[Command | str]:
    """Go through a page: commands, and Python as text.

    >>> list(steps("```\\n$ discreet risk a.csv\\nR1 0.5\\n```\\n"))
    [Command(line='discreet risk a.csv', shown='R1 0.5')]
    """
    for language, block in BLOCK.findall(text):
        if language == "python":
            yield block
            continue
        lines = block.replace("\\\n", " ").splitlines()
        starts = [k for k, line in enumerate(lines) if line.startswith("$ ")]
        if not starts:
            # Commands alone, one on each line.
            lines = [f"$ {line}" for line in lines if line.startswith("discreet ")]
            starts = list(range(len(lines)))
        for start, end in pairwise([*starts, len(lines)]):
            line = lines[start].removeprefix("$ ")
            if line.startswith("discreet ") and not {*SERVES, *NOT_RUN} & set(line.split()):
                yield Command(line, "\n".join(lines[start + 1 : end]).strip())


def pages_with_commands() -> dict[str, str]:
    """Return the text of every page of the documentation with a command that runs, by its place."""
    texts = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")}
    return {name: text for name, text in sorted(texts.items()) if any(isinstance(s, Command) for s in steps(text))}


def prepare(folder: Path) -> None:
    """Put the files into a folder that pages take for granted; pages run in it."""
    for file in (ROOT / "docs/assets/tutorial").glob("*.csv"):
        shutil.copyfile(file, folder / file.name)
    discreet.datasets.religion().write(folder / "religion.csv")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    for version in ("first", "final"):
        discreet.suppress(folder / f"{version}_true.csv", "threshold=3").release.write(folder / f"{version}.csv")
    draw = np.random.default_rng(3)
    counts = draw.poisson(0.5, [len(labels) for labels in BANDS.values()])
    for name, by in TABLES.items():
        others = tuple(k for k, one in enumerate(BANDS) if one not in by)
        labels = {one: found for one, found in BANDS.items() if one in by}
        discreet.Table.from_array(counts.sum(axis=others), labels).write(folder / f"{name}.csv")
    pq.write_table(people(draw), folder / "people.parquet")
    csv.write_csv(people(draw), folder / "people.csv")
    firms(draw, folder)


def firms(draw: np.random.Generator, folder: Path) -> None:
    """Write 200 firms, the tables that pages make of them, and one with sensitive sums hidden."""
    rows = {name: draw.choice(BANDS[name], 200) for name in ("region", "activity", "size")}
    few = np.flatnonzero((rows["activity"] == "5") & (rows["size"] == "7"))[2:]
    rows["size"][few] = "5"
    number = np.arange(200)
    rest = {"firm": number, "group": number // 2, "turnover": draw.integers(450, 900, 200), "w": np.full(200, 2)}
    csv.write_csv(pa.table(rows | rest), folder / "firms.csv")
    given = {"activity": rows["activity"], "size": rows["size"], "respondent": number, "value": rest["turnover"]}
    csv.write_csv(pa.table(given), folder / "contributions.csv")
    for name, by in MADE.items():
        table = discreet.tabulate(
            folder / "firms.csv", by=list(by), value="turnover", contributor="firm", holding="group"
        )
        table.write(folder / f"{name}.parquet")
    found = discreet.suppress(discreet.read_tabulation(folder / "turnover.parquet"), discreet.rules.PPercent(10))
    found.release.write(folder / "turnover.csv")


def people(draw: np.random.Generator) -> pa.Table:
    """Return records of 600 people in 200 households."""
    return pa.table(
        {
            "age": draw.integers(0, 90, 600),
            "sex": draw.choice(["f", "m"], 600),
            "household": draw.integers(1, 6, 600),
            "marital": draw.choice(["single", "married", "other"], 600),
            "region": np.repeat(draw.choice(["N1", "N2", "S1"], 200), 3),
            "hh": np.repeat(np.arange(200), 3),
        }
    )


def execute(command: Command, entry: str = "") -> Outcome:
    """Run a command of a page; only what was judged may be found wanting. ``ENTRY`` on a page is the last one added."""
    done = run(*(entry if word == ENTRY else word for word in command.words))
    allowed = (0, 1) if command.words[0] in ("assess", "audit", "compare", "geography", "ledger") else (0,)
    assert done.code in allowed, (command.line, done.err)
    return done
