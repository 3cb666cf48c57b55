"""R1 and R2: one graded number for the attribute-disclosure risk of a frequency table.

R1 judges the original. R2 judges what will be published, given the original on the same cells: it falls from R1 as
the released table leaves more uncertainty about the true one. The attacker sees the released table only, and
the measure averages over the people in it; it says nothing about what an insider or other tables add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import FloatArray, first_true, xlogx
from discreet.measures import entropy
from discreet.measures.entropy import DEFAULT_WEIGHTS, Form, Grouping, check_form, check_weights
from discreet.measures.risk_result import TERMS, Risk, Slices
from discreet.reading.original import open_original
from discreet.reading.reading import Reading, ReadingOptions
from discreet.table import Table
from discreet.table.release import Release

if TYPE_CHECKING:
    from discreet.table.guess import Pair


def check_measurable(table: Table, which: str = "table") -> None:
    """Refuse a table with fewer than two cells or with nobody in it."""
    if table.possible < 2:
        raise DataError(
            f"the {which} has {table.possible} cell that can occur; the risk compares cells, so it needs two or more"
        )
    if table.total == 0:
        raise DataError(f"the {which} counts nobody (every cell is 0); there is no risk to measure")


def risk(
    table: object,
    released: object = None,
    *,
    weights: tuple[float, float, float] = DEFAULT_WEIGHTS,
    form: Form = "2015",
    slices: Sequence[str] | None = None,
    sampled: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Risk:
    """Measure the attribute-disclosure risk of a table: R1 before protection, R2 given the released table.

    R1(F, w) = w1·|D|/K + w2·(1 − H(X)/log K) + w3·(1/√N)(1 + ½ log N); antal2014 section 3.2.
    R2(F, G, w) = w1·(|D|/K)^(|D∪E|/|D∩E|) + w2·(1 − H(X)/log K)·(1 − H(X|Y)/H(X)) + the same last term;
    antal2015 (4). D and E are the empty cells of original and released table, K counts the cells that can
    occur. The form of 2014 has H(X|Y)/H(X) as the last factor of the middle term: it *rises* with protection and
    serves only to replay antal2014.

    Args:
        table: the original table F: a table, a tabulation, a file or a frame.
        released: the released table G on the same categories, in any order, or a release whose ``recoding`` says how
            categories were merged. Both are then compared on the merged ones, and R2 is at most R1 of the original on
            those. Merging can raise R1: it may make an even table uneven. A file or frame is read like the original.
        weights: w1, w2, w3 for zeros, concentration and size; they sum to 1.
        form: ``"2015"`` or ``"2014"``.
        slices: the dimensions along which every slice is measured; by default all of them.
        sampled: the released table is a sample from the original; no cell may be larger in it.
        reading: how a file or frame is read, as for :func:`discreet.assess`.

    >>> import discreet
    >>> result = risk(discreet.datasets.religion())
    >>> round(result.value, 4), result.driver
    (0.2315, 'concentration')
    """
    w = check_weights(weights)
    check_form(form)
    how = Reading.of(reading, risk)
    table = open_original(table, how).table()
    published: Table | Release | None
    if released is None or isinstance(released, Table | Release):
        published = released
    else:
        from discreet.reading.published import open_released

        published = open_released(released, how)
    check_measurable(table)
    # A table of one dimension has slices of one cell each, which have no risk of their own.
    for name in slices or ():
        table.axis(name)
    along = tuple(table.names if slices is None else slices) if len(table.shape) > 1 else ()
    if published is None:
        return _before(table, w, along)
    return risk_after(table, published, _before(table, w, ()), along, form, sampled=sampled)


def risk_after(
    table: Table,
    released: Table | Release,
    before: Risk,
    along: tuple[str, ...],
    form: Form = "2015",
    *,
    sampled: bool = False,
) -> Risk:
    """Return R2 of a release of a table whose R1 is known, with slices along some dimensions; see :func:`risk`."""
    from discreet.table.coarsen import coarsened_table, recoding_of
    from discreet.table.guess import pair

    w = np.array(before.weights)
    # A release with merged categories says nothing about finer cells: both tables are compared on its categories.
    recoding = recoding_of(released)
    coarse = coarsened_table(table, recoding) if recoding else table
    check_measurable(coarse, "table of the merged categories")
    both = pair(coarse, released)
    if sampled and (i := first_true(np.asarray(both.released > both.original))) is not None:
        raise DataError(
            f"cell {both.table.describe(int(both.cells[i]))} has {both.released[i]} people in the sample, but "
            f"{both.original[i]} in the population; a sample cannot exceed its population"
        )
    return _after(both, w, form, along, before.value, _before(coarse, w, ()).value if recoding else None)


def _before(table: Table, w: FloatArray, along: tuple[str, ...]) -> Risk:
    F = table.counts
    inner = xlogx(F)
    people, cells = np.array([float(table.total)]), np.array([table.possible])
    H = np.maximum(np.log(people) - inner.sum() / people, 0.0)
    terms = w * entropy.r1_terms(people, H, np.array([float(F.size)]), cells)[0]
    parts = []
    sums = (table.sums(along, F), table.sums(along, inner), table.sums(along))
    for name, N, logs, filled in zip(along, *sums, strict=True):
        some = np.maximum(N, 1.0)
        slice_entropy = np.maximum(np.log(some) - logs / some, 0.0)
        parts.append(_slices(table, name, w * entropy.r1_terms(N, slice_entropy, filled, table.slice_cells(name)), N))
    return _risk("R1", table, terms, w, filled=F.size, H=float(H[0]), slices=tuple(parts))


def _after(both: Pair, w: FloatArray, form: Form, along: tuple[str, ...], before: float, merged: float | None) -> Risk:
    table, F, G = both.table, both.original, both.released
    terms = w * entropy.r2_terms(F, G, np.array([table.possible]), form=form)[0]
    parts = []
    for name in along:
        groups = Grouping(table.codes(name, both.cells), len(table.dimensions[table.axis(name)]))
        sliced = w * entropy.r2_terms(F, G, table.slice_cells(name), groups, form)
        parts.append(_slices(table, name, sliced, groups.sum(F)))
    remaining = float(entropy.conditional_entropy(F, G)[0])
    H = float(entropy.entropy(F)[0])
    return replace(
        _risk("R2", table, terms, w, filled=int(np.count_nonzero(F)), H=H, slices=tuple(parts)),
        empty_released=table.possible - int(np.count_nonzero(G)),
        before=before,
        merged=merged,
        form=form,
        conditional_entropy=None if np.isnan(remaining) else remaining,
    )


def _risk(
    measure: str, table: Table, terms: FloatArray, w: FloatArray, *, filled: int, H: float, slices: tuple[Slices, ...]
) -> Risk:
    return Risk(
        measure=measure,
        value=float(terms.sum()),
        terms=dict(zip(TERMS, terms.tolist(), strict=True)),
        weights=tuple(w.tolist()),
        people=table.total,
        cells=table.possible,
        empty=table.possible - filled,
        entropy=H,
        slices=slices,
    )


def _slices(table: Table, name: str, terms: FloatArray, N: FloatArray) -> Slices:
    dimension = table.dimensions[table.axis(name)]
    return Slices(name, dimension.categories, terms, N.astype(np.int64), table.slice_cells(name))
