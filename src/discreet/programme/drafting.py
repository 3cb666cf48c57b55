"""Drafts of plans: from records, from a list of tables, from the cells that a template asks for, from finished tables.

A draft is text to read and correct; comments say what could not be known.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from discreet.core.errors import DataError, RequestError, nearest, require
from discreet.programme.amount_columns import AmountColumns, amount_columns, amounts_in, toml
from discreet.table.arrow_files import read_arrow
from discreet.table.hierarchy import TOTAL
from discreet.table.roles import FIGURES, MARKS
from discreet.tabulation.whose import OFTEN, like_whose

TOTALS = ("_T", TOTAL, "TOTAL", "total", "T_T")
"""Codes that mean a total in templates, where nothing else is said."""
WHAT = ("indicator", "variable", "measure")
WHEN = ("time_period", "period", "time", "year", "quarter", "month")
VALUES = (*FIGURES, "obs_value", "value")
"""Columns that are empty in a template, for the figures to be filled in."""
NO_RECORDS = '# [records] # what is missing before it can be run: CSV, Parquet or DuckDB\n# files = "records.csv"\n'
MOST = 200
"""A column with more different texts than this is not a dimension in a draft: a round choice."""
MOST_CELLS = 100_000
"""A crossing of more cells than this is not drafted: a round choice, more than anybody reads."""
NAMED = re.compile(r"(^|[^a-z])(id|ident|identifier|key|nr|number)$", re.IGNORECASE)
"""Names of columns that identify contributors."""


def draft(source: str | Path, *, totals: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """Return the draft of a plan from a file of records, of tables or of requested cells, or from a folder of tables.

    A file with a column called ``count`` is a finished table. ``totals`` are the totals of columns of requested cells;
    the plan will be in ``folder``, by default beside the source.
    """
    file = Path(source)
    if file.is_dir():
        return _from_folder(file, file if folder is None else folder)
    if not file.exists():
        raise RequestError(f"{file} does not exist; name records, a list of tables, requested cells, or a folder")
    columns = {str(name): column for name, column in _columns(file).items()}
    # Observations that are to be filled in are read as hidden ones.
    nothing = {name: (None, "", *(MARKS if name.lower() in VALUES else ())) for name in columns}
    empty = [name for name, found in columns.items() if all(one in nothing[name] for one in found)]
    columns = {name: found for name, found in columns.items() if name not in empty}
    require(totals or {}, columns, "a total is given (total=, --total), but there is no column")
    lowered = {name.lower(): name for name in columns}
    if {"table_name", "indicator"} <= lowered.keys():
        return _from_list(file.name, columns)
    spanned = [name for name, found in columns.items() if _total(name, found, totals or {}) is not None]
    told = any(name in lowered for name in WHAT) or any(name.lower() in VALUES for name in empty)
    if spanned and told and all(not _numeric(found) for found in columns.values()):
        return _from_cells(file.name, columns, totals or {})
    place = file.parent if folder is None else folder
    amounts = {file: found} if (found := amount_columns(file)) is not None else {}
    if FIGURES[0] in lowered or amounts:
        return _from_tables(f"the table in {file.name}", [file], place, amounts)
    return _from_records(file, columns, _from(place, file))


def draft_as_read(folder: Path) -> str:
    """Return the draft of a folder of tables whose files say what they are.

    Raises:
        RequestError: if a table has amounts, as a draft only guesses which column is what.
    """
    if (guessed := next(iter(amounts_in(_tables_in(folder))), None)) is not None:
        raise RequestError(
            f"{guessed} has amounts, and nothing says which column is what; draft a plan from the folder, check it, "
            f"and take that (discreet plan new {folder} -o plan.toml)"
        )
    return draft(folder)


def _from(folder: Path, file: Path) -> str:
    """Return how a plan in a folder names a file."""
    return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()


def _columns(file: Path) -> dict[str, list[object]]:
    found = read_arrow(file)
    return {name: found[name].to_pylist() for name in found.column_names}


def _numeric(column: Sequence[object]) -> bool:
    """Say whether a column holds amounts: numbers with decimals, or more different ones than a dimension has."""
    texts = [str(one) for one in column[:2000] if one not in (None, "")]
    numbers = [text for text in texts if re.fullmatch(r"-?\d+([.,]\d+)?(e-?\d+)?", text, re.IGNORECASE)]
    if len(numbers) < len(texts) or not texts:
        return False
    return any(not text.lstrip("-").isdecimal() for text in numbers) or len(set(numbers)) > MOST or _own(column)


def _long(column: Sequence[object]) -> bool:
    """Say whether amounts have more decimals than their sums keep, so that the same sum differs between tables."""
    return any(re.search(r"[.,]\d{7}", str(one)) for one in column[:2000])


def _own(column: Sequence[object]) -> bool:
    """Say whether most records have an entry of their own: the column then identifies or measures them."""
    return len(set(column)) * 2 > len(column)


# --- a list of tables ---------------------------------------------------------------------------------------


def _from_list(file: str, columns: Mapping[str, Sequence[object]]) -> str:
    """Draft from a list of tables: name, indicator and crossing variables, each with the name of its hierarchy."""
    lowered = {name.lower(): name for name in columns}
    spans = sorted(name for name in lowered if re.fullmatch(r"spanning_\d+", name))
    if not spans:
        raise DataError(f"{file} lists no crossing variables; give columns spanning_1, spanning_2 …")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def said(row: Mapping[str, object], name: str) -> str:
        return str(row.get(lowered.get(name, ""), None) or "").strip()

    levels: dict[str, dict[str, None]] = {}
    sums: dict[str, dict[str, None]] = {}
    tables = []
    for row in rows:
        by = []
        for span in spans:
            if name := said(row, span):
                levels.setdefault(said(row, f"hrc_{span}") or name, {})[name] = None
                by.append(name)
        value = said(row, "indicator")
        if tree := said(row, "hrc_indicator"):
            sums.setdefault(tree, {})[value] = None
        tables.append(_table(said(row, "table_name"), by, value))
    parts = [_head(f"drafted from {file}", population=_one(said(row, "field") for row in rows))]
    parts.append(_equations(sums))
    parts.append(NO_RECORDS)
    for tree, names in levels.items():
        if [tree] == list(names):
            continue
        ordered = sorted(names, key=_natural)
        told = "# coarsest first, as their names suggest: check it\n" if len(ordered) > 1 else ""
        columns_ = ", ".join(map(toml, ordered))
        alone = f"levels = [{columns_}]\n" if len(ordered) == 1 else ""
        parts.append(f"[dimensions.{_key(tree)}]\n{told}columns = [{columns_}]\n{alone}")
    return "\n".join([*parts, *tables])


def _equations(sums: Mapping[str, Iterable[str]]) -> str:
    """State which indicators add up, the sum being the one that the tree is named after."""
    lines = []
    for tree, found in sums.items():
        names = list(found)
        stem = tree.lower().removeprefix("hrc_")
        whole = next((name for name in names if name.lower().endswith(stem)), names[0])
        parts = " + ".join(name for name in names if name != whole)
        lines.append(f"    {toml(f'{whole} = {parts}')}, # indicators under {tree}: check that they add up")
    return "" if not lines else "equations = [\n" + "\n".join(lines) + "\n]\n"


# --- requested cells ----------------------------------------------------------------------------------------


def _total(name: str, column: Sequence[object], totals: Mapping[str, str]) -> str | None:
    """Return the code of the total in a column of requested cells."""
    if name in totals:
        if totals[name] not in set(map(str, column)):
            there = sorted(set(map(str, column)))
            raise RequestError(
                f"{totals[name]!r}, said to be the total of {name} (total=, --total), is not in that column; "
                f"{nearest(totals[name], there)}"
            )
        return totals[name]
    found = set(map(str, column))
    return next((code for code in TOTALS if code in found), None)


def _from_cells(file: str, columns: Mapping[str, Sequence[object]], totals: Mapping[str, str]) -> str:
    """Draft from requested cells: the crossings of the dimensions that are not at their total.

    What is the same in all of them, as the frequency or the country may be, is no dimension.
    """
    what = next((name for name in columns if name.lower() in WHAT), None)
    when = next((name for name in columns if name.lower() in WHEN), None)
    fixed = {n: str(found[0]) for n, found in columns.items() if n not in (what, when) and len(set(found)) == 1}
    names = [name for name in columns if name not in (what, when, *fixed)]
    whole = {name: _total(name, columns[name], totals) for name in names}
    asked: dict[tuple[str, str], dict[frozenset[str], None]] = {}
    for row in zip(*columns.values(), strict=True):
        said = dict(zip(columns, map(str, row), strict=True))
        crossed = frozenset(name for name in names if said[name] != whole[name])
        about = (said[what] if what else "", said[when] if when else "")
        asked.setdefault(about, {})[crossed] = None
    several = len({period for _, period in asked}) > 1
    tables = []
    for (value, period), found in asked.items():
        widest = [one for one in found if one and not any(one < other for other in found)]
        for crossed in sorted(widest, key=lambda one: [name not in one for name in names]):
            by = [name for name in names if name in crossed]
            title = " ".join(filter(None, [value, period if several else "", *by]))
            tables.append(_table(title, by, value, period if several else ""))
    periods = {period for _, period in asked}
    parts = [_head(f"drafted from the cells that {file} asks for", period="" if several else next(iter(periods)))]
    when_line = f"# period = {toml(when)} # the column that says when\n" if several and when else ""
    parts.append(NO_RECORDS + when_line)
    parts += [_everywhere(name, code) for name, code in fixed.items() if code not in (totals.get(name), *TOTALS)]
    parts += [_spanned(name, whole[name]) for name in names]
    return "\n".join([*parts, *tables])


def _everywhere(name: str, code: str) -> str:
    """Say what all requested cells have in common."""
    chosen = f"where = {{ {_key(name)} = {toml(code)} }}"
    return f"# {name} is {code} in all cells. If the records hold others too, choose these in every table: {chosen}\n"


def _spanned(name: str, total: str | None) -> str:
    """Draft a dimension of requested cells."""
    if total is None:
        return (
            f"# {name}: no code of the template is known to be its total; name it (total), and its hierarchy\n"
            f"[dimensions.{_key(name)}]\ncolumns = [{toml(name)}]\n"
        )
    inside = '# hierarchy = "FILE" # where some of its codes contain others\n'
    return f"[dimensions.{_key(name)}]\ntotal = {toml(total)}\n{inside}"


# --- records and finished tables ----------------------------------------------------------------------------


def _from_records(file: Path, columns: Mapping[str, Sequence[object]], place: str) -> str:
    """Draft from records: every pair of dimensions, for every amount; for the number of records also all of them."""
    weights = [name for name in columns if "weight" in name.lower()]
    rest = {name: found for name, found in columns.items() if name not in weights}
    whose = _whose(rest)
    values = [name for name, found in rest.items() if name not in whose and _numeric(found)]
    counted = {name: len(set(found)) for name, found in rest.items() if name not in (*whose, *values)}
    dimensions = [name for name, many in counted.items() if 1 < many <= MOST]
    if len(dimensions) < 1:
        raise DataError(
            f"{file}: no column has between 2 and {MOST} different codes, each of several records, so nothing can be "
            "crossed"
        )
    trees = _nested({name: columns[name] for name in dimensions})
    finest = [chain[-1] for chain in trees]
    pairs: list[tuple[str, ...]] = [*combinations(finest, 2)] or [(finest[0],)]
    parts = [_head(f"drafted from {file.name}: every pair of dimensions; take out what is not published")]
    parts.append(f"[records]\nfiles = {toml(place)}\n" + (f"contributor = {toml(whose[0])}\n" if whose else ""))
    if any(_long(rest[name]) for name in values):
        parts[-1] += "decimals = 2 # amounts have many digits: rounded, their sums agree in all tables\n"
    if weights:
        parts[-1] += f"# weight = {toml(weights[0])} # if sums of weighted records are published\n"
    parts += [
        f"[dimensions.{_key(chain[-1])}]\ncolumns = [{', '.join(map(toml, chain))}]\n"
        for chain in trees
        if len(chain) > 1
    ]
    if not values and len(finest) > 2:
        parts.append(_all_crossed(finest, math.prod(counted[name] for name in finest)))
    tables = [
        _table(" ".join([*([value] if value else []), *pair]), list(pair), value)
        for value in (values or [""])
        for pair in pairs
    ]
    return "\n".join([*parts, *tables])


def _whose(columns: Mapping[str, Sequence[object]]) -> list[str]:
    """Return the columns that say whose each record is, those whose names say so first."""
    named = [name for name in like_whose(columns, ()) if len(columns[name]) <= OFTEN * len(set(columns[name]))]
    own = [name for name, found in columns.items() if _own(found) and (NAMED.search(name) or not _numeric(found))]
    return list(dict.fromkeys([*named, *own]))


def _all_crossed(names: Sequence[str], cells: int) -> str:
    """Draft the table of all dimensions: counts are rounded there, and added up, as policies for counts ask."""
    if cells <= MOST_CELLS:
        told = "# Counts are protected where all dimensions cross; this table contains those below it.\n"
        return told + _table(" ".join(names), names, "")
    return (
        f"# All {len(names)} dimensions together have {cells:,} cells, so their crossing is not drafted.\n"
        "# Roundings that add up need a table that contains all others: add one, or name another protection.\n"
    )


def _nested(columns: Mapping[str, Sequence[object]]) -> list[list[str]]:
    """Put columns into chains in which each code lies under one code of the column before it."""
    chains: list[list[str]] = []
    for name in sorted(columns, key=lambda one: len(set(columns[one]))):
        for chain in chains:
            above, pairs = columns[chain[-1]], set(zip(columns[name], columns[chain[-1]], strict=True))
            finer = len(set(columns[name]))
            if len(pairs) == finer > len(set(above)):
                chain.append(name)
                break
        else:
            chains.append([name])
    return sorted(chains, key=lambda chain: list(columns).index(chain[0]))


def _tables_in(folder: Path) -> list[Path]:
    """Return the files of a folder of finished tables."""
    files = sorted(one for one in folder.iterdir() if one.suffix.lower() in (".csv", ".parquet", ".xlsx"))
    if not files:
        raise RequestError(f"{folder} holds no .csv, .parquet or .xlsx file; name records, or put tables there")
    return files


def _from_folder(folder: Path, place: Path) -> str:
    """Draft from a folder of finished tables, one a file."""
    files = _tables_in(folder)
    about = f"the tables in {folder.name or folder.resolve().name}"
    return _from_tables(about, files, place, amounts_in(files))


def _from_tables(about: str, files: Sequence[Path], place: Path, amounts: Mapping[Path, AmountColumns]) -> str:
    """Draft from finished tables, one a file."""
    parts = [_head(f"drafted from {about}{': check which column is what' if amounts else ''}")]
    for name, total in {name: total for one in amounts.values() for name, total in one.totals.items()}.items():
        parts.append(f"[dimensions.{_key(name)}]\ntotal = {toml(total)}\n" if total != TOTAL else "")
        parts[-1] += f"# Rows of subtotals of {name} need its hierarchy, under [dimensions.{_key(name)}].\n"
    for file in files:
        name = re.sub(r"[^\w\- .]", "_", file.stem)
        columns = amounts[file].lines() if file in amounts else ""
        parts.append(f"[[tables]]\nname = {toml(name)}\nfile = {toml(_from(place, file))}\n{columns}")
    return "\n".join(parts)


# --- TOML ---------------------------------------------------------------------------------------------------


def _head(about: str, *, period: str = "", population: str = "") -> str:
    told = f'# A plan for discreet plan, {about}.\ntitle = "programme"\nperiod = {toml(period)}\n'
    told += f"population = {toml(population)}\n" if population else ""
    return told + 'policy = "default" # a profile, or a file of your own\n'


def _table(name: str, by: Sequence[str], value: str, period: str = "") -> str:
    lines = ["[[tables]]", f"name = {toml(name)}", f"by = [{', '.join(map(toml, by))}]"]
    lines += [f"value = {toml(value)}"] if value else []
    lines += [f"period = {toml(period)}"] if period else []
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return what sorts nuts2 before nuts10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _one(texts: Iterable[str]) -> str:
    """Return the text that all rows share."""
    found = set(texts)
    return found.pop() if len(found) == 1 else ""
