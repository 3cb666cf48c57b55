"""Tables as τ-ARGUS reads and writes them: a ``.tab`` file of cells with its ``.rda`` file and ``.hrc`` files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.files import write_text
from discreet.core.numerics import FloatArray, IntArray, NumberArray, first_true
from discreet.table.arrow_files import errors_of
from discreet.table.axis import Axis
from discreet.table.figures import Figures, families_of
from discreet.table.grid import Grid, recode
from discreet.table.hierarchy import Hierarchy, Prefixes
from discreet.table.inspection import SHOWN, InspectedColumn, Inspection, figures_dict
from discreet.table.tab_writer import hierarchy_name, rda_text
from discreet.table.tabulation import Tabulation
from discreet.table.units import Largest, Level, Response
from discreet.tabulation.rda import Metadata, Variable, read_rda, text_of

STATUSES = {"S": "safe", "U": "sensitive", "E": "empty", "P": "protected", "M": "secondary"}

MOST_DECIMALS = 15
"""The most decimals that a figure of a floating-point number can have."""
RECOMPUTED = (
    "correct the figures, read them as they are (check=False), or have margins recomputed from the cells "
    "(recompute=True, --margins recompute)"
)
HIDDEN = ("U", "M")
"""The statuses of primary and secondary suppressions."""


@dataclass(frozen=True, eq=False)
class TabularFile:
    """The cells of a ``.tab`` file, with what τ-ARGUS stores about each: status, cost and protection levels."""

    tabulation: Tabulation
    status: tuple[str, ...] | None
    cost: FloatArray | None
    lower: FloatArray | None
    upper: FloatArray | None


def read_tab(
    path: str | Path,
    rda: str | Path | None = None,
    *,
    encoding: str = "utf-8",
    check: bool = True,
    recompute: bool = False,
) -> TabularFile:
    """Read a table of τ-ARGUS, by default with the ``.rda`` file of the same name and encoding.

    Codes that a hierarchy file omits are placed under the total. With ``check`` every margin must be the sum of its
    cells, up to the rounding of the decimals; with ``recompute`` margins are recomputed from the cells.
    """
    file = Path(path)
    metadata = read_rda(rda if rda is not None else file.with_suffix(".rda"), encoding=encoding)
    text = text_of(file, encoding)
    if metadata.separator is None:
        raise DataError(f'{metadata.file} names no separator; a .tab file needs one, as <SEPARATOR> ";"')
    rows, lines = metadata.rows(text, file)
    if not rows:
        raise DataError(f"{file} is empty; a table needs at least one cell")
    dims, responses = metadata.of("dimension"), metadata.of("response")
    if not dims or not metadata.of("frequency"):
        raise DataError(f"{metadata.file}: a table needs <RECODEABLE> variables and one <FREQUENCY>; mark them")
    columns = {one.name: list(texts) for one, texts in zip(metadata.variables, zip(*rows, strict=True), strict=True)}
    axes = tuple(_axis(variable, columns[variable.name], metadata, encoding) for variable in dims)
    cells = Grid(tuple(len(axis) for axis in axes)).encode([recode(columns[axis.name], axis.codes) for axis in axes])
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    twice = np.flatnonzero(np.diff(cells) == 0)
    if twice.size:
        raise DataError(f"{file}: line {lines[order[twice[0] + 1]]}: the cell was given before; keep one line per cell")

    def numbers(role: str) -> list[FloatArray]:
        return [_numbers(columns[one.name], lines, one, file, metadata)[order] for one in metadata.of(role)]

    counts = numbers("frequency")[0]
    wrong = (counts != np.rint(counts)) | (counts < 0) | (counts > 2.0**53)
    if wrong.any():
        odd = int(np.argmax(wrong))
        raise DataError(f"{file}: line {lines[order[odd]]}: frequency {counts[odd]:g} is not a count; give integers")
    records = counts.astype(np.int64)
    top = np.stack(numbers("top"), axis=-1) if metadata.of("top") else np.zeros((len(rows), 0))
    shadow, judged = next((one.name for one in metadata.of("shadow")), None), numbers("shadow")
    sums = numbers("response")
    level = Level(records, None, tuple(Largest(np.abs(judged[0] if judged else one), np.abs(top)) for one in sums))
    values = tuple(Response(one.name, shadow, figures) for one, figures in zip(responses, sums, strict=True))
    tabulation = Tabulation(axes, margins_of(axes, cells), cells, records, None, values, level)
    with errors_of(file):
        rounding = max((0.5 * 10.0 ** -_stated_decimals(one) for one in responses), default=0.0)
        of = f" ({shadow})" if shadow else ""
        level.refuse_contradictions(lambda row: f"{tabulation.describe(row)}{of}", rounding)
    if recompute:
        tabulation = _recomputed(tabulation)
    elif check:
        refuse_other_sums(tabulation, file, [_stated_decimals(one) for one in responses], RECOMPUTED)
    status = metadata.of("status")
    marks = tuple(columns[status[0].name][i].strip() for i in order) if status else None
    cost, lower, upper = (next(iter(numbers(role)), None) for role in ("cost", "lower", "upper"))
    return TabularFile(tabulation, marks, cost, lower, upper)


def _numbers(texts: list[str], lines: list[int], variable: Variable, file: Path, metadata: Metadata) -> FloatArray:
    values = np.zeros(len(texts))
    for i, text in enumerate(texts):
        try:
            values[i] = float(metadata.plain(text))
        except ValueError:
            values[i] = math.nan
    if (row := first_true(~np.isfinite(values))) is not None:
        raise DataError(
            f"{file}: line {lines[row]}: {variable.name!r} is {texts[row]!r}, which is not a number; correct it"
        )
    return values


def _axis(variable: Variable, codes: list[str], metadata: Metadata, encoding: str) -> Axis:
    total = variable.total
    present = [code for code in dict.fromkeys(codes) if code != total]
    tree = metadata.hierarchy(variable, encoding)
    if isinstance(tree, Prefixes):
        tree = tree.over(present, total)
    if tree is None:
        tree = Hierarchy.flat(present, total=total)
    omitted = [code for code in present if code not in set(tree.codes)]
    return Axis(variable.name, (tree.with_codes(omitted),))


def margins_of(axes: tuple[Axis, ...], cells: IntArray) -> tuple[tuple[str, ...], ...]:
    """Return which dimensions are crossed by some cells."""
    codes = Grid(tuple(len(axis) for axis in axes)).decode(cells)
    patterns = np.stack([code > 0 for code in codes], axis=1)
    names = [axis.name for axis in axes]
    found = {tuple(np.array(names, object)[row].tolist()) for row in np.unique(patterns, axis=0)}
    return tuple(sorted(found, key=lambda margin: (len(margin), [names.index(name) for name in margin])))


def refuse_other_sums(tabulation: Tabulation, file: Path, decimals: Sequence[int], remedy: str) -> None:
    """Refuse a table with a margin that is not the sum of its cells, up to the rounding of each response's decimals."""
    figures: list[tuple[str, NumberArray, float]] = [("frequency", tabulation.records, 0.0)]
    for places, response in zip(decimals, tabulation.responses, strict=True):
        figures.append((response.name, response.sums, 0.5 * 10.0**-places))
    for axis, children, rows, slot in families_of(tabulation):
        parents = np.unique(slot)
        for name, figure, rounding in figures:
            sums = np.bincount(slot, weights=figure[rows], minlength=len(tabulation))
            allowed = rounding * (children + 1) + 1e-9 * np.abs(figure[parents])
            wrong = parents[np.abs(sums[parents] - figure[parents]) > allowed]
            if wrong.size:
                i = int(wrong[0])
                raise DataError(
                    f"{file}: {name} of margin '{tabulation.describe(i)}' is {figure[i]:,.10g}, but its cells along "
                    f"{axis.name!r} sum to {sums[i]:,.10g}; {remedy}"
                )


def _recomputed(tabulation: Tabulation) -> Tabulation:
    """Return the table with each margin recomputed from its cells, one dimension after the other."""
    columns = [tabulation.records.astype(np.float64), *(response.sums.copy() for response in tabulation.responses)]
    columns += [largest.total.copy() for largest in tabulation.contributors.largest]
    for _, _, rows, slot in families_of(tabulation):
        parents = np.unique(slot)
        for column in columns:
            column[parents] = np.bincount(slot, weights=column[rows], minlength=len(tabulation))[parents]
    records, sums, totals = columns[0].astype(np.int64), columns[1:], columns[1 + len(tabulation.responses) :]
    level = replace(
        tabulation.contributors,
        units=records,
        largest=tuple(replace(one, total=t) for one, t in zip(tabulation.contributors.largest, totals, strict=True)),
    )
    responses = tuple(replace(one, sums=s) for one, s in zip(tabulation.responses, sums, strict=False))
    return replace(tabulation, records=records, responses=responses, contributors=level)


def _stated_decimals(variable: Variable) -> int:
    text = (variable.keywords.get("DECIMALS") or ["0"])[0]
    if not text.isdecimal() or int(text) > MOST_DECIMALS:
        raise DataError(f"{variable.name!r} has {text!r} <DECIMALS>; give a number from 0 to {MOST_DECIMALS}")
    return int(text)


def inspect_tab(
    path: str | Path,
    rda: str | Path | None = None,
    *,
    cells: bool = False,
    encoding: str = "utf-8",
    recompute: bool = False,
) -> Inspection:
    """Describe a ``.tab`` file: its contents, the figures its statuses suppress, and on request the published ones."""
    file = Path(path)
    found = read_tab(file, rda, encoding=encoding, recompute=recompute)
    table = found.tabulation
    hidden = np.array([status.upper() in HIDDEN for status in found.status or ()], bool)
    columns = [InspectedColumn(axis.name, False, len(axis), tuple(axis.codes[:SHOWN])) for axis in table.axes]
    columns += [InspectedColumn(response.name, True, len(np.unique(response.sums)), ()) for response in table.responses]
    shown = None
    if cells:
        shown = figures_dict(Figures.of_tabulation(table, hidden=hidden if hidden.any() else None, name=file.name))
    return Inspection(file.name, "release" if hidden.any() else "tabulation", len(table), tuple(columns), cells=shown)


def companions(path: str | Path) -> list[Path]:
    """Return the files that a ``.tab`` file is read with: its metadata and the hierarchies that they name."""
    rda = Path(path).with_suffix(".rda")
    if not rda.is_file():
        return []
    metadata = read_rda(rda)
    named = [metadata.hierarchy_file(variable) for variable in metadata.variables]
    return [rda, *(file for file in named if file is not None and file.is_file())]


# --- writing ----------------------------------------------------------------------------------------------


def write_tab(
    tabulation: Tabulation,
    path: str | Path,
    *,
    response: str | None = None,
    sensitive: object = None,
    status: object = None,
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
    separator: str = ";",
) -> list[Path]:
    """Write a table for τ-ARGUS: the ``.tab`` file, its ``.rda`` file, and a ``.hrc`` file per hierarchy.

    Args:
        tabulation: the cells.
        path: the ``.tab`` file; the others are written beside it.
        response: the magnitude to write; the only one by default, the counts if there is none.
        sensitive: true at cells that get the status U, as rules find them; without it no status is written.
        status: the letter of every cell's status, where there are statuses other than U.
        lower: the lower protection levels.
        upper: the upper protection levels.
        separator: what separates the fields.

    Returns:
        The files that were written.
    """
    file = Path(path)
    tabulation.check_publishable()
    for axis in tabulation.axes:
        if len(axis.hierarchies) > 1:
            raise RequestError(
                f"dimension {axis.name!r} has {len(axis.hierarchies)} hierarchies, but a .tab file has room for one; "
                "write a table for each"
            )
    at = tabulation.response(response) if tabulation.responses else None
    value = tabulation.records if at is None else tabulation.responses[at].sums
    name = "Freq_Value" if at is None else tabulation.responses[at].name
    columns: list[tuple[str, list[str], Iterable[str | float]]] = [
        (name, ["<NUMERIC>", f"<DECIMALS> {_decimals(value)}"], value),
        ("Freq", ["<FREQUENCY>"], tabulation.records),
    ]
    if at is not None:
        largest = tabulation.contributors.largest[at]
        if tabulation.responses[at].shadow is not None:
            columns.append((f"{name}_Shadow", ["<NUMERIC> <SHADOW>"], largest.total))
        columns += [(f"Top{i + 1}", ["<MAXSCORE>"], largest.top[:, i]) for i in range(largest.top.shape[1])]
    if status is not None:
        columns.append(("Status", ["<STATUS>"], np.asarray(status)))
    elif sensitive is not None:
        marks = np.where(np.asarray(sensitive), "U", np.where(tabulation.records > 0, "S", "E"))
        columns.append(("Status", ["<STATUS>"], marks))
    if lower is not None:
        columns.append(("LowerPL", ["<NUMERIC> <LOWERPL>"], np.nan_to_num(lower)))
    if upper is not None:
        columns.append(("UpperPL", ["<NUMERIC> <UPPERPL>"], np.nan_to_num(upper)))
    written: list[Path] = []
    dimensions: list[tuple[str, str, str | None]] = []
    for axis in tabulation.axes:
        named = hierarchy_name(file, axis.name) if axis.hierarchies[0].depth > 1 else None
        if named is not None:
            axis.hierarchies[0].write(file.with_name(named))
            written.append(file.with_name(named))
        dimensions.append((axis.name, axis.total, named))
    described = rda_text(separator, dimensions, [(variable, keywords) for variable, keywords, _ in columns])
    labels = [[f'"{axis.codes[code]}"' for code in tabulation.codes(axis.name)] for axis in tabulation.axes]
    figures = [[_figure(figure) for figure in column] for _, _, column in columns]
    metadata = file.with_suffix(".rda")
    write_text(metadata, described, private=True)
    text = "".join(f"{separator.join(row)}\n" for row in zip(*labels, *figures, strict=True))
    write_text(file, text, private=True)
    return [*written, metadata, file]


def _decimals(values: object) -> int:
    """Return how many decimals are needed, up to 6."""
    finite = np.asarray(values, np.float64)
    for decimals in range(6):
        if np.allclose(finite, np.round(finite, decimals), rtol=1e-12, atol=0.0):
            return decimals
    return 6


def _figure(value: str | float) -> str:
    if isinstance(value, str):
        return str(value)
    number = float(value)
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
