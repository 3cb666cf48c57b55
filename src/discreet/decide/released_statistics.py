"""Statistics published beside the figures of a release: computed from these, counted, and compared with the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet.auditing.audit import LOOSE, UNCOUNTED, UNJUDGED
from discreet.auditing.audit_result import Audit
from discreet.auditing.findings import RANK, SUBJECTS
from discreet.core.errors import RequestError
from discreet.decide.measures_beside import MeasuresBeside
from discreet.feasible.implied_statistics import without_implied
from discreet.table.figures import Figures
from discreet.table.published_statistics import exact_or_above_zero, with_published
from discreet.table.release import Release
from discreet.table.statistic import Statistic
from discreet.utility.statistic_loss import StatisticLoss, statistic_loss

NOTHING = MeasuresBeside()


@dataclass(frozen=True, eq=False)
class ReleasedStatistics:
    """The statistics wanted beside a table, and the unprotected table, with margins and all of them.

    ``both`` are the measures that means are computed from, the true ones and the published ones.
    """

    wanted: Mapping[str, Statistic]
    truth: Figures
    both: MeasuresBeside = NOTHING

    @property
    def measures(self) -> tuple[Figures, ...]:
        """The published measures beside the figures."""
        return self.both.published

    @classmethod
    def of(
        cls, truth: Figures, wanted: Mapping[str, Statistic], measures: MeasuresBeside = NOTHING
    ) -> ReleasedStatistics:
        """Compute the statistics of an unprotected table."""
        every = {name: replace(one, threshold=0, extremes=True) for name, one in wanted.items()}
        whole = with_published(Release.of([truth, *measures.true]), every).parts()[0]
        silent = next((column.name for column in whole.statistics if not len(column)), None)
        if silent is not None:
            raise RequestError(
                f"no cell of the table has a {wanted[silent].kind} {silent!r} ({wanted[silent]}); correct its "
                "definition (statistics=, --statistic)"
            )
        return cls(dict(wanted), whole, measures)

    def beside(self, release: Release) -> Release:
        """Return a release with the statistics of its published figures, and the measures that these need.

        Means stand beside exact and hidden figures only: what numbers reveal about rounded or perturbed sums is not
        judged.
        """
        parts = release.parts()
        if not self.measures:
            return with_published(release, self.wanted)
        if len(parts) == 1 and all(exact_or_above_zero(part) for part in (*parts, *self.measures)):
            return with_published(replace(release, figures=(*parts, *self.measures)), self.wanted)
        return with_published(release, {name: one for name, one in self.wanted.items() if not one.measures})

    def told(self, release: Release) -> Release:
        """Return the part of a release with statistics that is to be judged: the rest follows, or is certified.

        Measures that no statistic links to the figures any more say nothing about them.
        """
        parts = without_implied(release.parts())
        if self.measures and not any(part.statistics for part in parts):
            parts = tuple(part for part in parts if not part.measure)
        return replace(release, figures=parts)

    def lost(self, release: Release) -> tuple[StatisticLoss, ...]:
        """Return what a release keeps of each."""
        return statistic_loss(self.truth, release.parts()[0])


def unsafe_beside(audited: Audit) -> tuple[str, ...]:
    """Say what an audit objects to in statistics, sensitive cells apart: other measures, and respondents' values."""
    found, texts = audited.findings, []
    beside = (found.at >= found.equations.positions.size) & (found.at < found.equations.stated)
    values = found.subject == SUBJECTS.index("values of respondents")
    for k in np.flatnonzero((beside | values) & (found.rank != RANK["safe"])).tolist():
        state = "not finished" if found.rank[k] == RANK["incomplete"] else "known"
        of = "values of respondents in " if values[k] else ""
        texts.append(f"{of}{found.equations.describe(int(found.at[k]))} {'are' if values[k] else 'is'} {state}")
    if any(text in audited.note for text in (UNJUDGED, LOOSE, UNCOUNTED)):
        texts.append("some were not judged")
    return tuple(dict.fromkeys(texts))
