"""The plan of a programme: where the records are, which tables are made, under which policy, and where they go.

A plan is a TOML file or an object of :class:`Programme`; both are checked whole before anything is read or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr

from discreet.core.errors import DiscreetError, RequestError, nearest, require
from discreet.decide.measures_beside import RECORDS
from discreet.decide.policy import CheckedPart, Policy
from discreet.decide.protections import make_method, parse_method
from discreet.programme.crossings import FINEST, Cluster, Crossing, clusters_of
from discreet.programme.indicators import Indicators
from discreet.programme.plan_text import Fault, PlanText
from discreet.rules import Threshold
from discreet.table.hierarchy import TOTAL
from discreet.table.presentation import FORMATS, Presentation
from discreet.table.published_statistics import computable
from discreet.table.statistic import Statistic, statistics_of

Name = Annotated[str, Field(min_length=1)]
Names = tuple[Name, ...]
RECORD = "record.json"
"""The record of a run, in the folder that it writes."""
ENDINGS = {**FORMATS, "flags": "-flags.csv", "sdmx-csv": "-sdmx.csv"}
"""How the file of a table ends in each format, so no two of one table have the same name."""


class PlanPart(CheckedPart):
    """What the parts of a plan share."""


class RecordsPart(PlanPart):
    """Where the records are, and what their columns mean, as for :func:`discreet.tabulate`.

    ``files`` are CSV, Parquet or DuckDB files, or a pattern; a database also names its ``table`` or a ``query``.
    ``decimals`` rounds every amount of every record: sums then agree in all tables to the last decimal. ``period``
    is a column of the records that says when, for plans whose tables are of several periods. Cell keys are
    those of the column ``key``, or hashes of the columns ``identify`` under the secret in the file ``secret``.
    """

    files: Name | Names
    table: str | None = None
    query: str | None = None
    engine: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: Literal[".", ","] | None = None
    decimals: Annotated[int, Field(ge=0, le=6)] | None = None
    contributor: str | None = None
    holding: str | None = None
    weight: str | None = None
    missing: Literal["error", "category", "drop"] = "error"
    outside: Literal["error", "total"] = "error"
    negative: Literal["absolute", "error"] = "absolute"
    period: str | None = None
    key: str | None = None
    key_range: Annotated[int, Field(ge=1)] | None = None
    identify: Names = ()
    secret: str | None = None


class DimensionPart(PlanPart):
    """A dimension: its column, or nested columns from the coarsest; its hierarchies; and what its levels are called.

    ``levels`` names the levels below the total, the coarsest first, by which tables can be cut; nested columns are
    their own. ``prefixes`` are lengths of codes, as in NACE or NUTS. ``labels`` is a CSV file of two columns, code and
    label, whose labels workbooks show.
    """

    columns: Names = ()
    hierarchy: Name | Names = ()
    prefixes: tuple[Annotated[int, Field(ge=1)], ...] = ()
    levels: Names = ()
    total: str = TOTAL
    labels: str | None = None

    @property
    def named_levels(self) -> tuple[str, ...]:
        """The names of the levels, the coarsest first."""
        return self.levels or (self.columns if len(self.columns) > 1 else ())

    @property
    def files(self) -> tuple[str, ...]:
        """The files of its hierarchies."""
        return (self.hierarchy,) if isinstance(self.hierarchy, str) else self.hierarchy


class TablePart(PlanPart):
    """One table: its crossing by dimensions or levels of them, what it adds up, and whom it is about.

    ``where`` keeps the people of one category of each dimension named. ``weight`` is a column of weights in place of
    that of all records; ``""`` leaves the table unweighted. ``file`` is a finished table in place of records: then
    ``by`` are its columns that classify, ``count`` is that of its counts or contributors, ``value`` that of its sums
    and ``largest`` those of the largest contributions to these; ``decimal`` is the decimal sign of its amounts.
    ``variable`` says what its sums are of, where the column does not: tables of one variable are about the same
    amounts. ``part`` names the totals of dimensions of which it has some categories only. ``statistics`` are published
    beside its figures and computed from these, as ``"rate=percentage, over=outcome, decimals=0"``.
    """

    name: Name
    by: Names = ()
    value: str | None = None
    where: Mapping[str, str] = Field(default_factory=dict)
    weight: str | None = None
    period: str = ""
    title: str = ""
    file: str | None = None
    count: str | None = None
    largest: Name | Names = ()
    decimal: Literal[".", ","] | None = None
    variable: Name | None = None
    part: Mapping[str, Name] = Field(default_factory=dict)
    statistics: Names = ()

    @property
    def defined(self) -> dict[str, Statistic]:
        """Its statistics of its own figures, by column."""
        return {name: one for name, one in self._stated.items() if not one.measures}

    @property
    def means(self) -> dict[str, Statistic]:
        """Its statistics of its own figures and those of other tables, by column."""
        return {name: one for name, one in self._stated.items() if one.measures}

    @property
    def _stated(self) -> dict[str, Statistic]:
        stated = statistics_of(self.statistics)
        return computable(stated, [name for one in stated.values() for name in one.measures])


class OutputPart(PlanPart):
    """What is written and where: one file a table in each format, the record and the report.

    With ``workbook``, the tables of each cluster also become the sheets of one Excel workbook. ``presentation`` are the
    titles, notes, symbols and labels of :class:`~discreet.table.presentation.Presentation`.
    """

    folder: str = "published"
    formats: Annotated[
        tuple[Literal["csv", "flags", "sdmx-csv", "parquet", "xlsx", "tab"], ...], Field(min_length=1)
    ] = ("csv",)
    mark: str = "x"
    workbook: bool = False
    presentation: Mapping[str, object] = Field(default_factory=dict)


class PreviousPart(PlanPart):
    """What was published before: the folder of an earlier run, and how its pattern counts.

    ``keep`` says how much more it costs to hide a cell that was open than one that was hidden; with ``hold``, what was
    hidden stays hidden even where it need not be. Readers are taken to
    know that no figure changed by more than ``growth`` per cent since. ``revision`` says that the earlier figures are
    of the same values: what was open is known, and protects nothing. ``records`` are the files of records as they were
    then: they say what was corrected, and readers are taken to know that. ``older`` are those behind versions that were
    corrected before, by their titles in the ledger.
    """

    folder: str
    keep: Annotated[float, Field(ge=1)] = 1000.0
    hold: bool = True
    growth: Annotated[float, Field(gt=0)] | None = None
    revision: bool = False
    records: Name | Names = ()
    older: Mapping[str, Name | Names] = Field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """The records of all earlier versions."""
        return tuple(file for names in (self.records, *self.older.values()) for file in as_list(names))


class FrozenPart(PlanPart):
    """A cell that must stay open or closed, in every table that shows it."""

    cell: Mapping[str, str]
    state: Literal["open", "closed"]
    value: str | None = None


class Programme(PlanPart):
    """A plan: records, dimensions, tables, policy and outputs of a programme of publications.

    Changes from releases of other times, and corrections, must be made by at least ``fewest`` people or firms.
    ``territories`` are pairs of dimensions that divide one territory, such as municipalities and grid cells.
    ``time_limit`` is for a whole run, in seconds: what is not finished by then is withheld.

    >>> plan = Programme(records={"files": "firms.csv"}, tables=[{"name": "T1", "by": ["region"]}])
    >>> [cluster.name for cluster in plan.clusters()]
    ['count']
    """

    title: str = "programme"
    period: str = ""
    vintage: str = ""
    population: str = ""
    revises: Names = ()
    policy: str = "default"
    protection: str | Mapping[str, object] = "propose"
    time_limit: Annotated[float, Field(gt=0)] | None = None
    ledger: str | None = None
    fewest: Annotated[int, Field(ge=1)] = 3
    records: RecordsPart | None = None
    dimensions: Mapping[str, DimensionPart] = Field(default_factory=dict)
    equations: Names = ()
    territories: tuple[tuple[Name, Name], ...] = ()
    tables: Annotated[tuple[TablePart, ...], Field(min_length=1)]
    output: OutputPart = OutputPart()
    previous: PreviousPart | None = None
    frozen: tuple[FrozenPart, ...] = ()
    folder: Path = Path(".")
    _text: PlanText = PrivateAttr(default_factory=PlanText)

    def read_from(self, text: PlanText) -> Programme:
        """Return the plan; what is wrong with it is told with the lines of a text."""
        self._text = text
        return self

    def told(self, faults: Iterable[Fault]) -> str:
        """Return faults in words: file, line and key of each."""
        return self._text.told(faults)

    def refuse_faults(self) -> None:
        """Refuse a plan whose parts contradict each other."""
        if found := list(self.faults()):
            raise RequestError(self.told(found))

    # --- what it says -------------------------------------------------------------------------------------

    @property
    def method(self) -> tuple[str, dict[str, object]]:
        """The name and the parameters of the protection that is applied to every cluster, or ``"propose"``."""
        if isinstance(self.protection, str):
            name, parameters = parse_method(self.protection)
            return name, dict(parameters)
        return str(self.protection.get("name", "")), {k: v for k, v in self.protection.items() if k != "name"}

    @property
    def indicators(self) -> Indicators:
        """The trees of its indicators."""
        return Indicators.of(self.equations)

    def place(self, file: str) -> Path:
        """Return a file that the plan names, from its own folder."""
        return self.folder / file

    @property
    def written(self) -> Path:
        """The folder that tables are written to: inside of that of the plan, links resolved."""
        found = self.place(self.output.folder)
        if not found.resolve().is_relative_to(self.folder.resolve()):
            raise RequestError(
                f"output.folder: {found} lies outside the folder of the plan, {self.folder.resolve()}; say in "
                "the run that it is to be written there (folder=, --output)"
            )
        return found

    def input_files(self) -> list[Path]:
        """Return the files that it reads, as far as they are there; those of patterns and folders are among them."""
        named = [table.file for table in self.tables]
        if self.records is not None:
            named += [*as_list(self.records.files), self.records.secret]
        named += [file for said in self.dimensions.values() for file in (*said.files, said.labels)]
        named += [self.policy if self.policy.endswith(".toml") else None, self.ledger]
        if self.previous is not None:
            named += [f"{self.previous.folder}/{RECORD}", *self.previous.files]
        found: list[Path] = []
        for at in (self.place(name) for name in named if name):
            here = [at] if at.is_file() else at.glob("*") if at.is_dir() else at.parent.glob(at.name)
            found += sorted(file for file in here if file.is_file())
        return found

    def dimension(self, name: str) -> tuple[str, int]:
        """Return the dimension that a name in a crossing means, and the level at which it is cut."""
        for dimension, said in self.dimensions.items():
            if name in said.named_levels:
                depth = said.named_levels.index(name) + 1
                return dimension, FINEST if depth == len(said.named_levels) else depth
        return name, FINEST

    def crossing(self, table: TablePart) -> Crossing:
        """Return a table as its cluster sees it."""
        ties, value = self.indicators, table.value or ""
        root = ties.root(value)
        levels: dict[str, int] = {}
        for dimension, level in map(self.dimension, table.by):
            levels[dimension] = max(level, levels.get(dimension, 0))
        where = {self.dimension(name)[0]: code for name, code in table.where.items()}
        return Crossing(table.name, root, value, table.period, levels, where, ties.tied(root))

    def partner(self, table: TablePart, measure: str) -> TablePart | None:
        """Return the table of another measure that crosses the same, of the same people and time; None without one."""
        own, value = self.crossing(table), None if measure == RECORDS else measure
        for one in self.tables:
            if one.value == value and one is not table and self.weight(one) is None:
                other = self.crossing(one)
                if (other.levels, other.where, other.period) == (own.levels, own.where, own.period):
                    return one
        return None

    def clusters(self) -> tuple[Cluster, ...]:
        """Return which tables are one problem."""
        return clusters_of([self.crossing(table) for table in self.tables])

    def weight(self, table: TablePart) -> str | None:
        """Return the column of weights of a table."""
        return (self.records.weight if table.weight is None and self.records else table.weight) or None

    @property
    def weights(self) -> dict[str, str | None]:
        """The column of weights of every cluster, by its name."""
        weight = {table.name: self.weight(table) for table in self.tables}
        return {cluster.name: weight[cluster.tables[0].name] for cluster in self.clusters()}

    # --- what is wrong with it ----------------------------------------------------------------------------

    def faults(self) -> Iterator[Fault]:
        """Yield what contradicts itself, with the key that says it."""
        yield from self._faults_of_tables()
        yield from self._faults_of_texts()
        try:
            ties = self.indicators
        except DiscreetError as error:
            yield ("equations",), str(error)
        else:
            yield from self._faults_of_output()
            known = {table.value for table in self.tables}
            for number, one in enumerate(ties.equations):
                if not known & {one.whole, *one.parts}:
                    yield ("equations", str(number)), f"{one.text!r} names no value of a table; take it out"
            yield from self._faults_of_weights(ties)
            yield from self._faults_of_dimensions()
        try:
            said = Presentation.from_dict(self.output.presentation)
            if all(table.file is None for table in self.tables):
                shown = {self.dimension(name)[0] for table in self.tables for name in table.by}
                require(said.columns or (), shown, "no table has the dimension")
                require(said.labels, shown, "labels are given, but there is no dimension")
        except DiscreetError as error:
            yield ("output", "presentation"), str(error)
        yield from self._faults_of_territories()
        yield from self._faults_of_protection()

    def _faults_of_dimensions(self) -> Iterator[Fault]:
        """Yield names that mean two dimensions, and columns nested in two that nothing ties to each other."""
        for number, table in enumerate(self.tables):
            for key in ("by", "where"):
                for name in getattr(table, key):
                    meant = [one for one, said in self.dimensions.items() if name in (one, *said.named_levels)]
                    if len(meant) > 1:
                        told = f"{name!r} may mean dimension {meant[0]!r} or {meant[1]!r}; nest it in one of them only"
                        yield ("tables", str(number), key), f"{told}, or give its levels other names (levels)"
        nested = {name: set(said.columns) for name, said in self.dimensions.items()}
        pairs = [pair for pair in combinations(nested, 2) if nested[pair[0]] & nested[pair[1]]]
        for one, other in pairs:
            pair = {one, other}
            beside = [cluster for cluster in self.clusters() if pair <= set(cluster.dimensions)]
            if not all(any(pair <= group.dimensions for group in cluster.groups) for cluster in beside):
                yield (
                    ("dimensions", other, "columns"),
                    f"{min(nested[one] & nested[other])!r} is nested in {one!r} too, and no table crosses the two, so "
                    f'what one table hides another may show; add a table that crosses them (by = ["{one}", "{other}"]),'
                    " or leave out the tables by one of them",
                )

    def _faults_of_territories(self) -> Iterator[Fault]:
        """Yield divisions of a territory that no table shows."""
        if self.territories and any(table.file is not None for table in self.tables):
            yield (
                ("territories",),
                "only records tell which zones overlap, and the tables are files; let the plan tabulate the records",
            )
            return
        shown = {self.dimension(name)[0] for table in self.tables for name in table.by}
        for number, pair in enumerate(self.territories):
            for name in pair:
                if name not in shown:
                    yield (
                        ("territories", str(number)),
                        f"no table has the dimension {name!r}; {nearest(name, sorted(shown))}",
                    )
            if pair[0] == pair[1]:
                yield ("territories", str(number)), f"{pair[0]!r} is one division; name two"

    def _faults_of_tables(self) -> Iterator[Fault]:
        seen: dict[str, int] = {}
        finished = [table for table in self.tables if table.file is not None]
        if finished and len(finished) < len(self.tables):
            yield ("tables",), "some tables are files and others are made of records; put them into two plans"
        for number, table in enumerate(self.tables):
            here = ("tables", str(number))
            if table.name in seen:
                yield (
                    (*here, "name"),
                    f"tables {seen[table.name] + 1} and {number + 1} are both called {table.name!r}; "
                    "give each a name of its own",
                )
            seen.setdefault(table.name, number)
            if not _names_a_file(table.name):
                yield (
                    (*here, "name"),
                    f"{table.name!r} cannot be the name of a file; use letters, digits, blanks, - and _",
                )
            if table.file is None and not table.by:
                yield here, "there is nothing to cross; name dimensions (by)"
            dimensions = [self.dimension(name)[0] for name in table.by]
            chosen = [self.dimension(name)[0] for name in table.where]
            for name, dimension in zip(table.where, chosen, strict=True):
                if dimension in dimensions or chosen.count(dimension) > 1:
                    yield (*here, "where"), f"{name!r} is crossed too; name it in by or in where, not in both"
            for text in self._faults_of_statistics(table, dimensions):
                yield (*here, "statistics"), text
            for key, text in self._faults_of_reading(table):
                yield (*here, key), text
        if finished and self.equations:
            yield (
                ("equations",),
                "equations are between columns of records, and the tables are files; let the plan tabulate the records",
            )
        yield from self._faults_of_files()

    def _faults_of_reading(self, table: TablePart) -> Iterator[tuple[str, str]]:
        """Yield keys that say how a file is read, of a table of records, and the other way round."""
        if table.file is None:
            for key in ("count", "largest", "decimal", "variable", "part"):
                if getattr(table, key):
                    yield key, "this says how a finished table is read (file), and here are records; leave it out"
            return
        if table.where:
            yield "where", f"{table.file} is finished, so no people can be chosen from it; say what it covers (part)"
        for name, code in table.part.items():
            said = self.dimensions.get(name, DimensionPart())
            if code == said.total:
                yield "part", f"{code!r} is the total of everybody in {name!r}; give the part a code of its own"

    def _faults_of_files(self) -> Iterator[Fault]:
        """Yield tables with a file that has the name of another table's, where upper and lower case are the same."""
        files: dict[str, str] = {}
        for number, name in enumerate(table.name for table in self.tables):
            for ending in (ENDINGS[form] for form in self.output.formats):
                other = files.setdefault(f"{name}{ending}".casefold(), name)
                if other != name:
                    told = f"the file {name}{ending} would take the place of that of table {other!r}; rename one"
                    yield ("tables", str(number), "name"), told

    def _faults_of_statistics(self, table: TablePart, dimensions: list[str]) -> Iterator[str]:
        try:
            defined = table.defined
            yield from self._faults_of_means(table)
        except DiscreetError as error:
            yield str(error)
            return
        for name, one in defined.items():
            if one.where == "safe":
                yield (
                    f"{name}: a plan publishes statistics where their figures are shown; leave out where=, or publish "
                    "this table by itself (discreet assess --statistic, then discreet ledger check)"
                )
            for over in (*one.over, *filter(None, [one.along])):
                if table.by and over not in dimensions:
                    yield f"{name}: there is no dimension {over!r}; {nearest(over, dimensions)}"
        if defined and "tab" in self.output.formats:
            yield "files of τ-ARGUS have no place for statistics; take tab out of output.formats"

    def _faults_of_means(self, table: TablePart) -> Iterator[str]:
        """Yield what is wrong with means: they are of two tables of the plan."""
        for name, one in table.means.items():
            if table.file is not None:
                yield f"{name}: means are of records, and the table is a file; leave it out"
            elif table.value is None or table.value not in one.measures:
                yield f"{name}: it is a {one}, and the table is of {table.value or 'numbers'}; name its value (of=)"
            for measure in one.measures:
                if measure != table.value and self.partner(table, measure) is None:
                    what = "numbers" if measure == RECORDS else measure
                    yield f"{name}: no other table shows {what} in the same crossing; add one without weights"
        if table.means and self.output.workbook:
            yield "means stand beside numbers in the files of single tables; take workbook out of output"

    def _faults_of_texts(self) -> Iterator[Fault]:
        """Yield texts that go into reports, files and the ledger, and cannot be printed."""
        if not self.title.strip():
            yield ("title",), f"is {self.title!r}; give a title that can be printed"
        texts: dict[tuple[str, ...], str] = {
            (key,): getattr(self, key) for key in ("title", "period", "vintage", "population")
        }
        for number, table in enumerate(self.tables):
            for key in ("title", "period"):
                texts["tables", str(number), key] = getattr(table, key)
        for path, text in texts.items():
            if not text.isprintable():
                yield path, f"is {text!r}; give a text that can be printed"

    def _faults_of_output(self) -> Iterator[Fault]:
        """Yield workbooks of clusters that cannot be files of the folder, or would take the place of another file."""
        if not self.output.workbook:
            return
        tables = {table.name.casefold() for table in self.tables} if "xlsx" in self.output.formats else set()
        for name in (cluster.name for cluster in self.clusters()):
            if not _names_a_file(name) or name.casefold() in tables:
                wrong = "a table is called the same" if _names_a_file(name) else "no file of the folder has such a name"
                yield ("output", "workbook"), f"the workbook of cluster {name!r} cannot be written: {wrong}; rename it"

    def _faults_of_weights(self, ties: Indicators) -> Iterator[Fault]:
        """Yield tables of one variable with different weights: compared with each other, they give weights away."""
        first: dict[tuple[str, str], TablePart] = {}
        for number, table in enumerate(self.tables):
            here = ("tables", str(number), "weight")
            if table.file is not None and table.weight is not None:
                yield here, f"{table.file} is finished, so nothing in it can be weighted; leave weight out"
                continue
            family = ties.root(table.value or ""), table.period
            other = first.setdefault(family, table)
            if self.weight(other) != self.weight(table):
                names = [self.weight(one) or "nothing" for one in (other, table)]
                yield (
                    here,
                    f"tables {other.name!r} and {table.name!r} show {family[0] or 'counts'} weighted by {names[0]} and "
                    f"by {names[1]}; whoever compares them learns about single weights, so give both the same",
                )

    def _faults_of_protection(self) -> Iterator[Fault]:
        try:
            policy = Policy.load(self.place(self.policy) if self.policy.endswith(".toml") else self.policy)
        except DiscreetError as error:
            yield ("policy",), str(error)
            return
        if self.protection == "propose":
            yield from self._unprotectable(policy)
            return
        try:
            name, parameters = self.method
            make_method(name, parameters, (Threshold(3),))
        except DiscreetError as error:
            yield ("protection",), str(error)
            return
        for magnitudes in {table.value is not None for table in self.tables if table.file is None}:
            if not policy.allows(name, magnitudes):
                what = "magnitudes" if magnitudes else "counts"
                listed = ", ".join(dict.fromkeys(one.name for one in policy.protections if one.suits(magnitudes)))
                yield (
                    ("protection",),
                    f"policy {policy.name!r} does not allow {name} for {what}; {nearest(name, listed.split(', '))}",
                )

    def _unprotectable(self, policy: Policy) -> Iterator[Fault]:
        """Yield that no protection of the policy suits some tables, or that none of them can be made together."""
        for magnitudes in sorted({table.value is not None for table in self.tables if table.file is None}):
            what = "magnitudes" if magnitudes else "counts"
            if not policy.asks(magnitudes=magnitudes):
                yield ("policy",), f"policy {policy.name!r} asks nothing of tables of {what}; name another"
            elif not any(one.suits(magnitudes) for one in policy.protections):
                yield (
                    ("policy",),
                    f"policy {policy.name!r} lists no protection for tables of {what}; name another, or say which to "
                    "apply (protection)",
                )


def _names_a_file(name: str) -> bool:
    """Say whether a name is that of a file of a folder, and of none elsewhere or hidden."""
    return all(part.isalnum() or part in "-_ .×()" for part in name) and not name.startswith(".")


def as_list(files: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return one file or several as a list."""
    return (files,) if isinstance(files, str) else files
