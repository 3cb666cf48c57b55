"""Attacks on means: sums and numbers side by side, of which some are hidden, and the means of one per the other."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import discreet as dc
from redteam import claims, laws, originals
from redteam.case import Bench, Case, judged_case, sure
from redteam.command import run
from redteam.enumeration import Belief, Limit, TooManyError, enumerated, together
from redteam.eyes import Line, held, lines
from redteam.judge import Failure, judge_interval, judge_known, judge_widest, refuted
from redteam.of_plans import FORMATS
from redteam.of_values import LOOSE
from redteam.originals import Firms
from redteam.published import Published, plain
from redteam.readers import OUTSIDER, RESPONDENT
from redteam.stated import Stated
from redteam.worlds import TOTAL, Cells, Counts, World

MEAN = "mean"
MOST = 120_000
"""How many pairs of sums and numbers are tried."""
SHAPES = ((2,), (3,), (3,), (2, 2), (2, 2), (2, 3))
REFUSED = 2
"""The exit code of a command that cannot be answered."""


@dataclass(frozen=True)
class Sides:
    """Sums and numbers of the same cells as they are published, and the printed means, None where there is none."""

    world: World
    sums: Published
    numbers: Published
    statistic: Stated
    means: tuple[tuple[Cells, str | None], ...]

    @property
    def hidden(self) -> dict[Cells, str]:
        """What is not printed, with the cells of the numbers behind those of the sums."""
        size = len(self.world.leaves)
        found = {figure.cells: "hidden sum" for figure in self.sums.hidden}
        return found | {tuple(size + c for c in figure.cells): "hidden number" for figure in self.numbers.hidden}

    def belief(self, own: Mapping[int, tuple[int, int]] | None = None) -> Belief:
        """Return what sums, numbers and means leave together: nobody has a sum without being counted.

        ``own`` is what a reader put into cells: how much, and how often.
        """
        size, own = len(self.world.leaves), own or {}
        sides = []
        for part, known in enumerate((self.sums, self.numbers)):
            mine = [Limit((cell,), put[part]) for cell, put in own.items()]
            belief = enumerated(size, [*(laws.limit_of(figure, None) for figure in known.figures), *mine])
            if belief.open:
                raise TooManyError
            sides.append(list(belief.tables(size)))
        if len(sides[0]) * len(sides[1]) > MOST:
            raise TooManyError
        fits = self._fits(own)
        return together(2 * size, [((*sums, *numbers), 1) for sums, numbers in product(*sides) if fits(sums, numbers)])

    def _fits(self, own: Mapping[int, tuple[int, int]]) -> Callable[[Counts, Counts], bool]:
        """Return the test whether sums and numbers have the printed means, and can be of the same people."""
        printed = [(cells, text) for cells, text in self.means if text is not None]

        def test(sums: Counts, numbers: Counts) -> bool:
            if any(put and not n for put, n in zip(sums, numbers, strict=True)):
                return False
            if any(numbers[c] == times and sums[c] != put for c, (put, times) in own.items()):
                return False
            return all(
                mean_of(self.statistic, sum(sums[c] for c in cells), sum(numbers[c] for c in cells)) == text
                for cells, text in printed
            )

        return test


def mean_of(statistic: Stated, above: int, below: int) -> str | None:
    """Return how a mean is printed; None where nobody is counted, or too few are."""
    return None if below < max(statistic.threshold, 1) else statistic.rounded(Fraction(above, below))


def _drawn(random: Random) -> Stated:
    return Stated(
        "mean",
        decimals=random.choice((0, 1, 1, 2)),
        rounding=random.choice(("conventional", "conventional", "half-even", "down")),
        step=random.choice((1, 1, 1, 5)),
        threshold=random.choice((0, 0, 0, 3)),
    )


def beside_sums(bench: Bench) -> Iterator[Case]:
    """Sums and numbers of which an office hid some, and published the true means beside them; audited."""
    random = bench.random
    world = originals.flat(random, SHAPES)
    numbers = tuple(random.choice((1, 1, 2, 3, 4, 5)) for _ in world.leaves)
    sums = tuple(sum(random.choice((0, 1, 2, 3, 5)) for _ in range(n)) for n in numbers)
    statistic, least = _drawn(random), random.choice((0, 1))
    rows = _office(random, world, (sums, numbers), statistic, least)
    shown = _sides(world, rows, statistic, "n", least)
    about = (world.dimensions, sums, numbers, statistic.text, least, [(r.value, dict(r.beside)) for r in rows])
    try:
        belief = shown.belief()
    except TooManyError:
        yield Case("sums beside a mean", OUTSIDER, "audit", repr(about), skipped=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerow([*world.names, "value", "n", MEAN])
            for row in rows:
                said = "x" if row.value is None else row.value
                out.writerow([*row.label.values(), said, row.beside["n"], row.beside[MEAN]])
        try:
            definition = f"{statistic.text}, of=value, per=n"
            read = dc.read_release(path, value="value", statistics={MEAN: definition}, least=least)
            data: claims.Data = dc.audit(read, workers=1, proofs=0).to_dict()
        except dc.DiscreetError:
            return

    def judged() -> tuple[int, list[Failure]]:
        return _judged(data, shown, sure(belief, (*sums, *numbers)))

    yield judged_case("sums beside a mean", OUTSIDER, "audit", about, judged)


def _judged(data: claims.Data, shown: Sides, belief: Belief, measure: str = "n") -> tuple[int, list[Failure]]:
    """Judge an audit: the intervals of sums and numbers, and a verdict of safe."""
    rows = list(claims.intervals(data, shown.world, measures=("", measure)))
    judge = judge_widest if LOOSE in data["sentence"] else judge_interval
    found = [failure for row in rows for failure in judge(row, belief)]
    if data["verdict"] == "safe":
        found += judge_known(shown.hidden, belief, "verdict: safe")
    return len(rows) + 1, found


def _office(random: Random, world: World, true: tuple[Counts, Counts], statistic: Stated, least: int) -> list[Line]:
    """Return a whole table with some sums and numbers hidden, and true means, a few of them left out."""
    share, kept = random.choice((0.3, 0.5, 0.8)), random.choice((1.0, 1.0, 0.7))
    exact, hidden = plain({"name": "exact"}), plain({"name": "suppressed"})
    rows = []
    for labels in product(*((*categories, TOTAL) for _, categories in world.dimensions)):
        label = dict(zip(world.names, labels, strict=True))
        above, below = (sum(counts[c] for c in world.cells(label)) for counts in true)
        hide = [
            figure >= least and random.random() < share * (0.3 if TOTAL in labels else 1) for figure in (above, below)
        ]
        text = mean_of(statistic, above, below) if random.random() < kept else None
        beside = {"n": "x" if hide[1] else str(below), MEAN: text or "x"}
        rows.append(Line(label, hidden if hide[0] else exact, None if hide[0] else above, None, beside))
    return rows


def _sides(world: World, rows: Sequence[Line], statistic: Stated, measure: str, least: int = 1) -> Sides:
    """Return what the lines of a file say of sums, numbers and means."""
    exact, hidden = plain({"name": "exact"}), plain({"name": "suppressed"})
    others = [
        replace(row, kind=exact if text.isdigit() else hidden, value=int(text) if text.isdigit() else None)
        for row in rows
        for text in [row.beside[measure]]
    ]
    texts = [(world.cells(row.label), row.beside[MEAN]) for row in rows]
    # A workbook shows the decimals of a number, and does not store them.
    means = tuple((c, f"{float(text):.{statistic.decimals}f}" if text[-1:].isdigit() else None) for c, text in texts)
    sums, numbers = (held(some, world, least=least) for some in (rows, others))
    return Sides(world, sums, numbers, statistic, means)


@dataclass(frozen=True)
class Staffed:
    """Firms with the number of their people: what each record adds to the sums, and to a weight."""

    firms: Firms
    heads: tuple[int, ...]

    def write(self, path: Path) -> None:
        """Write the records."""
        names, leaves = self.firms.world.names, self.firms.world.leaves
        rows = [",".join((*names, "firm", "value", "heads"))]
        for (cell, firm, value), staff in zip(self.firms.rows, self.heads, strict=True):
            rows.append(",".join((*leaves[cell], firm, str(value), str(staff))))
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    def below(self, measure: str) -> tuple[int, ...]:
        """Return what every record adds to the figure below the line."""
        return self.heads if measure == "heads" else tuple(1 for _ in self.firms.rows)

    def counts(self, measure: str) -> Counts:
        """Return the figures below the line."""
        rows = list(zip(self.firms.rows, self.below(measure), strict=True))
        return tuple(sum(n for (at, _, _), n in rows if at == cell) for cell in range(len(self.firms.world.leaves)))

    def own(self, firm: str, measure: str) -> dict[int, tuple[int, int]]:
        """Return what a firm put into every cell that it is in: into the sum, and into the figure below the line."""
        rows = zip(self.firms.rows, self.below(measure), strict=True)
        return {cell: (value, n) for (cell, who, value), n in rows if who == firm}


def _staffed(random: Random) -> Staffed:
    world = World.of(*random.choice(SHAPES))
    firms = originals.firms_of(random, world, random.choice(((1, 2, 3, 5), (0, 1, 2, 4))), "FGHJKLM")
    return Staffed(firms, tuple(random.choice((1, 1, 2, 3)) for _ in firms.rows))


def means_of_sums(bench: Bench) -> Iterator[Case]:
    """Means and weighted means beside suppressed sums, by the command line or under a policy; the file is read."""
    random = bench.random
    made, statistic, measure = _staffed(random), _drawn(random), random.choice(("records", "records", "heads"))
    fewest, p = random.choice((2, 3)), random.choice((0, 0, 10))
    defined = f"{MEAN}={statistic.text}, of=value, per={measure}"
    door = random.choice(("protect", "assess", "plan"))
    form = random.choice(list(FORMATS))
    world = made.firms.world
    with tempfile.TemporaryDirectory() as name:
        path = _published(Path(name), made, door, form, defined, (fewest, p))
        if path is None:
            return
        printed = lines(path, world.names, (measure, MEAN))
        if not printed or MEAN not in printed[0].beside:
            return
        code, out = run("audit", path, "--json", "--workers", 1)
        if code == REFUSED:
            return
    shown = _sides(world, printed, statistic, measure)
    true = (*made.firms.sums, *made.counts(measure))
    about = (world.dimensions, made.firms.rows, made.heads, defined, fewest, p, door, form)
    size = len(world.leaves)
    # Zeros are in print.
    above = [figure.cells for figure in shown.sums.figures if any(true[c] for c in figure.cells)]
    few = sorted({cells for cells in above if 0 < made.firms.others(cells) < fewest})
    secret = dict.fromkeys(few, f"a sum of fewer than {fewest} firms")
    if measure == "records":
        small = [f.cells for f in shown.numbers.figures if 0 < sum(true[size + c] for c in f.cells) < fewest]
        secret |= {tuple(size + c for c in cells): f"a number below {fewest}" for cells in small}

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(shown.belief(), true)
        count, found = _judged(json.loads(out), shown, belief, measure)
        found += [*judge_known(secret, belief, "verdict: safe"), *_of_figures(shown)]
        return count + 2, found

    def by_firms() -> tuple[int, list[Failure]]:
        found: list[Failure] = []
        for firm in made.firms.names:
            belief = shown.belief(made.own(firm, measure))
            theirs = {
                cells: f"{firm}, {name}"
                for cells, name in secret.items()
                if max(cells) < size and _secret(made.firms, cells, firm)
            }
            found += judge_known(theirs, sure(belief, true), "verdict: safe")
        return len(made.firms.names), found

    title = f"suppress with {'weighted ' if measure == 'heads' else ''}means"
    yield judged_case(title, OUTSIDER, door, about, by_outsider)
    yield judged_case(title, RESPONDENT, door, about, by_firms)


def _secret(firms: Firms, cells: Cells, firm: str) -> bool:
    """Say whether a sum is a secret to a firm: it is not in it, or one other firm is."""
    others = firms.others(cells, firm)
    return others == 1 if any(cell in cells for cell in firms.own(firm)) else others > 0


def _of_figures(shown: Sides) -> Iterator[Failure]:
    """Judge the claim that means are those of the published figures, and hidden with either of them."""
    sums, numbers = ({figure.cells: figure.value for figure in side.figures} for side in (shown.sums, shown.numbers))
    for cells, text in shown.means:
        above, below = sums[cells], numbers[cells]
        printed = None if above is None or below is None else mean_of(shown.statistic, above, below)
        if text is not None and text != printed:
            yield refuted("statistics of the figures", f"cells {cells}: {text} is printed, the figures give {printed}")


def _published(folder: Path, made: Staffed, door: str, form: str, defined: str, limits: tuple[int, int]) -> Path | None:
    """Have a release made by one of the doors; return its file, None where it is refused or withheld."""
    fewest, p = limits
    by, records = made.firms.world.names, folder / "records.csv"
    made.write(records)
    out = folder / ("out.xlsx" if form == "xlsx" else "out.csv")
    policy = f"[rules]\nthreshold = {fewest}\n" + (f"p_percent = {p}\n" if p else "")
    (folder / "own.toml").write_text(f'{policy}[[protections]]\nname = "suppress"\n', encoding="utf-8")
    if door == "plan":
        measure = defined.rpartition("per=")[2]
        value = f'value = "{measure}"\n' if measure != "records" else ""
        head = 'title = "T"\npolicy = "own.toml"\nprotection = "suppress"\n'
        text = f'{head}[records]\nfiles = "records.csv"\ncontributor = "firm"\n'
        text += f'[[tables]]\nname = "T"\nby = {json.dumps(by)}\nvalue = "value"\nstatistics = ["{defined}"]\n'
        text += f'[[tables]]\nname = "N"\nby = {json.dumps(by)}\n{value}'
        (folder / "plan.toml").write_text(f'{text}[output]\nfolder = "out"\nformats = ["{form}"]\n', encoding="utf-8")
        code, _ = run("plan", "run", folder / "plan.toml", "--workers", 1)
        path = folder / "out" / f"T{FORMATS[form]}"
        return path if code == 0 and path.exists() else None
    cells = folder / "cells.parquet"
    said = ("--by", ",".join(by), "--value", "value,heads", "--contributor", "firm")
    if run("tabulate", records, *said, "-o", cells)[0]:
        return None
    also = ("--value", "value", "--statistic", defined, "--format", form, "-o", out)
    if door == "assess":
        code, _ = run("assess", cells, "--policy", folder / "own.toml", "--workers", 1, *also)
    else:
        rules = ("--rule", f"threshold={fewest}", *(("--rule", f"p={p}") if p else ()))
        code, _ = run("protect", "suppress", cells, *rules, *also)
    return out if code == 0 and out.exists() else None
