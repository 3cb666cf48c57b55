"""The outcome of a programme: a verdict for every table, worst first; its files, its record and its report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import copyfile

from discreet.core.errors import DiscreetError, RequestError
from discreet.core.files import ScratchFolder, file_sha256, write_text, write_whole
from discreet.core.json_types import Json
from discreet.core.text import Face, Result, many
from discreet.decide.policy import Policy
from discreet.decide.provenance import versions
from discreet.decide.verdict import RANK
from discreet.programme.cluster_work import ClusterOutcome, TableOutcome
from discreet.programme.labels import of_file, presentation
from discreet.programme.means import means_beside, published_figures
from discreet.programme.overview import header_of, overview_page
from discreet.programme.plan_model import ENDINGS, RECORD, Programme
from discreet.table.release import Release

REPORT = "report.html"


def table_files(plan: Programme) -> list[str]:
    """Return the names of the files of all tables in all formats, whether or not the plan asks for them."""
    names = [f"{table.name}{ending}" for table in plan.tables for ending in ENDINGS.values()]
    return names + [f"{cluster.name}.xlsx" for cluster in plan.clusters() if plan.output.workbook]


def refuse_overwriting(plan: Programme, folder: Path, names: Iterable[str]) -> None:
    """Refuse a folder in which a table would take the place of a file that the plan reads."""
    read = {(found.st_dev, found.st_ino): file for file in plan.input_files() for found in [file.stat()]}
    for there in (folder / name for name in names):
        found = there.stat() if there.exists() else None
        if found is not None and (file := read.get((found.st_dev, found.st_ino))) is not None:
            told = (
                f"a table would take the place of {file}, which the plan reads; name another folder (folder=, --output)"
            )
            raise RequestError(plan.told([(("output", "folder"), told)]))


@dataclass(frozen=True, eq=False, repr=False)
class ProgrammeOutcome(Result):
    """The outcome of a run; ``fresh`` counts the clusters that were worked on, the others being unchanged."""

    plan: Programme
    policy: Policy
    clusters: tuple[ClusterOutcome, ...]
    folder: Path
    inputs: str
    fresh: int

    @property
    def verdict(self) -> str:
        """The worst verdict of a cluster."""
        return max((one.verdict for one in self.clusters), key=RANK.__getitem__)

    def ranked(self) -> list[tuple[ClusterOutcome, TableOutcome]]:
        """Return all tables, the worst first: withheld, then by the share that is hidden."""
        every = [(cluster, table) for cluster in self.clusters for table in cluster.tables]
        return sorted(every, key=lambda one: (-RANK[one[0].verdict], one[0].utility, -one[1].share, one[1].name))

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        tables = sum(len(one.tables) for one in self.clusters)
        held = sum(len(one.tables) for one in self.clusters if one.verdict == "withhold")
        said = f"{many(tables, 'table')} in {many(len(self.clusters), 'cluster')}: "
        if not held:
            return said + "all may be published as written."
        late = sum(len(one.tables) for one in self.clusters if one.unfinished)
        more = f"; {late:,} of these {'was' if late == 1 else 'were'} not finished in time" if late else ""
        return said + f"{tables - held:,} may be published as written, {held:,} must not be released{more}."

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            "title": self.plan.title,
            "period": self.plan.period,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "fresh": self.fresh,
            "folder": str(self.folder),
            "tables": [
                {
                    "table": table.name,
                    "cluster": cluster.name,
                    "verdict": cluster.verdict,
                    "method": cluster.method,
                    "figures": table.figures,
                    "hidden": table.hidden,
                    "sensitive": table.sensitive,
                    "statistics": table.statistics,
                }
                for cluster, table in self.ranked()
            ],
            "clusters": [
                {
                    "cluster": one.name,
                    "verdict": one.verdict,
                    "sentence": one.sentence,
                    "utility": one.utility,
                    "unfinished": one.unfinished,
                    "checks": [{"passed": passed, "text": text} for passed, text in one.checks],
                    "notes": list(one.notes),
                }
                for one in self.clusters
            ],
        }

    def face(self, most: int) -> Face:
        """Return the tables, the worst first."""
        rows = self.rows()
        return Face(header_of(rows), rows, self.sentence, left=4)

    def rows(self) -> list[list[str]]:
        """Return the tables as rows of text, the worst first, with how many statistics each has where some do."""
        beside = any(table.statistics for _, table in self.ranked())
        found = []
        for cluster, table in self.ranked():
            row = [table.name, cluster.name, cluster.verdict, cluster.method]
            # Nothing is published of a table that is withheld, so no figure of it is hidden either.
            held = cluster.verdict == "withhold"
            shown, hidden = ("–" if held else f"{count:,}" for count in (table.figures, table.hidden))
            found.append([*row, shown, f"{table.sensitive:,}", hidden, *[f"{table.statistics:,}"][:beside]])
        return found

    # --- files --------------------------------------------------------------------------------------------

    def files(self) -> Iterator[tuple[str, str, Release, str]]:
        """Yield the name of every file, its format, what it holds, and what its figures are called."""
        for one in self.clusters:
            if one.release is None:
                continue
            value = "value" if one.variable else "count"
            shown = [published_figures(part) for part in one.release.parts()]
            for table, part in zip(one.tables, shown, strict=True):
                parts = means_beside(self.plan, self.clusters, table.name) or (part,)
                for form in self.plan.output.formats:
                    yield f"{table.name}{ENDINGS[form]}", form, replace(one.release, figures=parts), value
            if self.plan.output.workbook:
                yield f"{one.name}.xlsx", "xlsx", replace(one.release, figures=tuple(shown)), value

    def write(self) -> None:
        """Write all tables that may be published, the report, and finally the record; remove tables that may not.

        A table that cannot be written in one of its formats is refused before any other is.
        """
        written: dict[str, str] = {}
        said = presentation(self.plan)
        with ScratchFolder() as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            for name, form, release, value in self.files():
                style = of_file(said, release, form)
                with self._told_of(name):
                    release.write(
                        made / name, value=value, mark=self.plan.output.mark, trial=release.trial, style=style
                    )
            # A file may have others beside it that say how it is read.
            ready = sorted(made.iterdir())
            refuse_overwriting(self.plan, self.folder, [path.name for path in ready])
            for path in ready:
                written[path.name] = file_sha256(path)
                write_whole(self.folder / path.name, partial(copyfile, path))
        for name in self._before() - written.keys():
            (self.folder / name).unlink(missing_ok=True)
        page = overview_page(self.plan, self.verdict, self.sentence, self.rows(), self.clusters)
        write_text(self.folder / REPORT, page, private=True)
        record = {
            "record": "plan",
            "inputs": self.inputs,
            "versions": dict(versions()),
            "policy_sha256": self.policy.sha256,
            "plan": self.plan.model_dump(mode="json", exclude={"folder"}),
            "clusters": {one.name: one.sha256 for one in self.clusters},
            "files": written,
            "outcome": {key: value for key, value in self.to_dict().items() if key not in ("fresh", "folder")},
            "kept": [one.to_text() for one in self.clusters],
        }
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_whole(self.folder / RECORD, lambda path: path.write_text(text, encoding="utf-8"), private=True)

    @contextmanager
    def _told_of(self, name: str) -> Iterator[None]:
        """Say of which file of the plan a refusal is."""
        try:
            yield
        except RequestError as error:
            raise RequestError(self.plan.told([(("output",), f"{name} cannot be written: {error}")])) from None

    def _before(self) -> set[str]:
        """Return what earlier runs may have written: the files of all tables, and those that the record lists."""
        names = {f"{table.name}{ending}" for table in self.plan.tables for ending in ENDINGS.values()}
        try:
            listed = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))["files"]
            return names | {name for name in listed if Path(name).name == name}
        except (OSError, ValueError, LookupError, TypeError):
            return names

    @classmethod
    def unchanged(cls, plan: Programme, folder: Path, inputs: str) -> ProgrammeOutcome | None:
        """Return the outcome of an earlier run if nothing that it depends on has changed, and its files are there."""
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            files = record["files"]
            same = record["inputs"] == inputs and (folder / REPORT).exists()
            if not same or any(file_sha256(folder / name) != found for name, found in files.items()):
                return None
            clusters = tuple(ClusterOutcome.from_text(text) for text in record["kept"])
            if any(one.unfinished for one in clusters):
                return None
            # Whoever goes by the time of files, as Make does, sees that these are up to date.
            for name in (*files, REPORT, RECORD):
                os.utime(folder / name)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, DiscreetError):
            # A record that is missing or damaged is not a reason to stop: everything is made again.
            return None
        policy = Policy.load(plan.place(plan.policy) if plan.policy.endswith(".toml") else plan.policy)
        return cls(plan, policy, clusters, folder, inputs, 0)
