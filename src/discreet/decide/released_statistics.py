"""Statistics that go out beside the figures of a release: computed from these, counted, and compared with the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet.auditing.audit import LOOSE, UNJUDGED
from discreet.auditing.audit_result import Audit
from discreet.auditing.findings import RANK, SUBJECTS
from discreet.core.errors import RequestError
from discreet.table.figures import Figures
from discreet.table.published_statistics import with_published
from discreet.table.release import Release
from discreet.table.statistic import Statistic
from discreet.utility.statistic_loss import StatisticLoss, statistic_loss


@dataclass(frozen=True, eq=False)
class ReleasedStatistics:
    """The statistics that are wanted beside a table, and the table as it is, with margins and all of them."""

    wanted: Mapping[str, Statistic]
    truth: Figures

    @classmethod
    def of(cls, truth: Figures, wanted: Mapping[str, Statistic]) -> ReleasedStatistics:
        """Compute the statistics of a table that is published as it is."""
        every = {name: replace(one, threshold=0, extremes=True) for name, one in wanted.items()}
        (whole,) = with_published(Release.of(truth), every).parts()
        silent = next((column.name for column in whole.statistics if not len(column)), None)
        if silent is not None:
            raise RequestError(
                f"no cell of the table has a {wanted[silent].kind} {silent!r} ({wanted[silent]}); correct its "
                "definition (statistics=, --statistic)"
            )
        return cls(dict(wanted), whole)

    def beside(self, release: Release) -> Release:
        """Return a release with the statistics of the figures that it publishes."""
        return with_published(release, self.wanted)

    def lost(self, release: Release) -> tuple[StatisticLoss, ...]:
        """Return what a release keeps of each."""
        return statistic_loss(self.truth, release.parts()[0])


def unsafe_beside(audited: Audit) -> tuple[str, ...]:
    """Say what an audit objects to in statistics, beside sensitive cells: other measures, and values of respondents."""
    found, texts = audited.findings, []
    beside = (found.at >= found.equations.positions.size) & (found.at < found.equations.stated)
    values = found.subject == SUBJECTS.index("values of respondents")
    for k in np.flatnonzero((beside | values) & (found.rank != RANK["safe"])).tolist():
        state = "not finished" if found.rank[k] == RANK["incomplete"] else "known"
        of = "values of respondents in " if values[k] else ""
        texts.append(f"{of}{found.equations.describe(int(found.at[k]))} {'are' if values[k] else 'is'} {state}")
    if UNJUDGED in audited.note or LOOSE in audited.note:
        texts.append("some were not judged")
    return tuple(dict.fromkeys(texts))
