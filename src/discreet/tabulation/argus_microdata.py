"""Records as τ-ARGUS reads them: fixed width (``.asc``) or separated (``.csv``), described by an ``.rda`` file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from discreet.core.errors import DataError, RequestError, nearest
from discreet.table.hierarchy import TOTAL, Hierarchy, Prefixes
from discreet.tabulation.rda import Metadata, read_rda, text_of
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import DimensionSpec


@dataclass(frozen=True, eq=False)
class Microdata:
    """The columns of a data file as texts, and its metadata."""

    file: Path
    records: pa.Table
    metadata: Metadata

    def dimension(self, name: str, total: str | None = None) -> DimensionSpec:
        """Return a variable as a dimension with its hierarchy; codes that it omits are placed under the total."""
        variable = next((one for one in self.metadata.variables if one.name == name), None)
        if variable is None:
            names = [one.name for one in self.metadata.variables]
            raise RequestError(f"{self.metadata.file} has no variable {name!r}; {nearest(name, names)}")
        tree = self.metadata.hierarchy(variable)
        code = total or variable.total
        if isinstance(tree, Hierarchy) and tree.total != code:
            tree = Hierarchy((code, *tree.codes[1:]), tree.parents)
        trees: tuple[Hierarchy | Prefixes, ...] = () if tree is None else (tree,)
        return DimensionSpec(name, hierarchies=trees, total=code, outside="total")

    def prepared(
        self, by: Mapping[str, str | Sequence[str]] | Sequence[str], *, total: str = TOTAL
    ) -> tuple[Source, list[DimensionSpec]]:
        """Return the records and the dimensions, ready to tabulate."""
        dimensions = []
        for name in by:
            columns = by[name] if isinstance(by, Mapping) else name
            if not isinstance(columns, str):
                dimensions.append(DimensionSpec(name, tuple(columns), total=total, outside="total"))
                continue
            dimensions.append(self.dimension(columns, None if total == TOTAL else total))
        return Source("arrow", native=self.records), dimensions


def read_microdata(path: str | Path, rda: str | Path | None = None, *, encoding: str = "utf-8") -> Microdata:
    """Read records with τ-ARGUS metadata, by default the ``.rda`` file of the same name and encoding."""
    file = Path(path)
    metadata = read_rda(rda if rda is not None else file.with_suffix(".rda"), encoding=encoding)
    text = text_of(file, encoding)
    if not text.strip():
        raise DataError(f"{file} is empty; there is nothing to tabulate")
    names = [variable.name for variable in metadata.variables]
    if metadata.separator is None:
        rows = _fixed(text, file, metadata)
    else:
        rows, _ = metadata.rows(text, file)
        # Some programs write a header; τ-ARGUS itself expects none.
        if rows and [field.strip().lower() for field in rows[0]] == [name.lower() for name in names]:
            del rows[0]
    columns: dict[str, object] = {}
    for i, (name, variable) in enumerate(zip(names, metadata.variables, strict=True)):
        values = [row[i] for row in rows]
        if variable.role in ("response", "weight", "shadow", "cost"):
            values = [metadata.plain(value) for value in values]
        columns[name] = pa.array([value or None for value in values], pa.string())
    return Microdata(file, pa.table(columns), metadata)


def _fixed(text: str, file: Path, metadata: Metadata) -> list[list[str]]:
    """Cut lines into the fields of the variables."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        row = []
        for variable in metadata.variables:
            assert variable.start is not None
            assert variable.length is not None
            end = variable.start - 1 + variable.length
            # Editors strip blanks at the end of a line; a line that ends before a variable begins is cut off.
            if len(line) < variable.start:
                raise DataError(
                    f"{file}: line {number} has {len(line)} characters, but {variable.name!r} begins at "
                    f"{variable.start}; give every line all variables"
                )
            value = line[variable.start - 1 : end]
            row.append(value if variable.role == "dimension" and value.strip() else value.strip())
        rows.append(row)
    return rows
