"""Replay of antal2014: R1, R2 and the Hellinger distance of four census tables under random rounding.

The printed R2 do not follow from (3.6). They follow from the same formula with another denominator in its last sum,
the printed variant, which is computed here beside (3.6) and nowhere else: it is not a conditional entropy.
"""

from __future__ import annotations

import math

import numpy as np

from discreet import datasets
from discreet.core.numerics import FloatArray, IntArray, xlogy
from discreet.core.random import spawn
from discreet.core.statistics import Moments
from discreet.evaluate.expected import Expected, expected_risk
from discreet.measures.entropy import DEFAULT_WEIGHTS, entropy, r1_terms, r2_terms
from discreet.measures.risk import risk
from discreet.protect import RandomRounding
from discreet.studies.comparison import PaperComparison, Section, Study, StudyEffort, published
from discreet.table import Table

TABLES = datasets.CENSUS
PRINTED_DRAWS = 1000
ROUNDING = RandomRounding(3)
R2, HD = "R2, form 2014, random rounding to base 3", "HD, random rounding to base 3"


def replay(effort: StudyEffort) -> Study:
    """Compute every number of antal2014 Tables 1 to 4 and compare it with the printed one.

    By default each table is rounded 10,000 times, ten times as many as in the paper.

    >>> replay(StudyEffort(draws=50)).reproduced
    True
    """
    rounds = 10_000 if effort.draws is None else effort.draws
    streams = spawn(effort.seed, 2 * len(TABLES))
    rows: list[PaperComparison] = []
    for i, name in enumerate(TABLES):
        rows += _table(i + 1, datasets.load(name), rounds, (streams[i], streams[len(TABLES) + i]), effort)
    ordered = tuple(sorted(rows, key=lambda row: row.group))
    return Study("antal2014", *TITLE, {"draws": rounds, "seed": effort.seed}, ordered, REMARKS, (_both(rows),))


TITLE = (
    "Antal, Shlomo and Elliot (2014): replay of Tables 1 to 4",
    "L. Antal, N. Shlomo, M. Elliot (2014). *Measuring Disclosure Risk and Information Loss in Population Based "
    "Frequency Tables.* University of Manchester, 8 September 2014. Tables 1 to 4, Appendix.",
)
REMARKS = (
    "**R2 is in the form of 2014**, with the middle term multiplied by H(X|Y)/H(X). This form rises with protection "
    "and is used here only because the paper prints it; everywhere else the form of 2015 is the default.",
    "**Which R2 do not follow from the formula.** In Tables 1, 2 and 4, most slices with a count of 4 or more, and the "
    "whole tables, are printed higher than (3.6) gives. All 83 follow from (3.6) with log((N·Gⱼ − minⱼ)/maxₖ(N·Gₖ)) in "
    "its last sum in place of log((N·Gⱼ − minⱼ)/(N·Gⱼ)), where minⱼ = min(M·Fⱼ, N·Gⱼ) and k runs over the cells of the "
    "slice. This printed variant stands beside (3.6) below; a figure that follows from it alone is called explained.",
    "**Why (3.6) is right and the variant is not.** By Theorem 4, Pr(X = i, Y = j) = (Fᵢ/N)·E(Z_ij). Summed over i "
    "this is Pr(Y = j) = Gⱼ/M, so the probability that conditions on Y = j is N·Gⱼ over N·M, which is the denominator "
    "of (3.6). With the largest N·Gₖ in its place, the probabilities of X given Y = j do not sum to 1. The variant can "
    "therefore exceed H(X), which no conditional entropy does: for F = (2, 1, 0) and G = (0, 6, 3), H(X) is 0.6365, "
    "(3.6) gives 0.4621 and the variant 0.6931. Enumeration of every assignment of people to published cells gives "
    "(3.6) on all small tables that the tests go through. Both agree where every cell that gains people is as large "
    "as the largest, as in slices whose counts are all 3 or less, published as 0 or 3. discreet measures with "
    "(3.6) only.",
)


def _table(
    number: int,
    table: Table,
    rounds: int,
    streams: tuple[np.random.Generator, np.random.Generator],
    effort: StudyEffort,
) -> list[PaperComparison]:
    """Return R1, the Hellinger distance and R2 of every slice of a table, beside the printed figures."""
    before = risk(table)
    w, told = effort.workers, effort.progress
    after = expected_risk(table, ROUNDING, draws=rounds, form="2014", seed=streams[0], workers=w, progress=told)
    expected = {(item.dimension, item.category): (item.risk, item.hellinger) for item in after.slices}
    expected["table", "all"] = (after.risk, after.hellinger)
    rounded = ROUNDING.draws(table, streams[1], rounds)
    # The standard error of the difference of two means: the paper's over 1,000 roundings, and ours.
    share = math.sqrt(1 / PRINTED_DRAWS + 1 / rounds)
    rows = []
    for line in published(f"antal2014-table{number}"):
        dimension, category = line["slice"], line["category"]
        whole = dimension == "table"
        where = f"Table {number}, {'whole table' if whole else f'{dimension} {category}'}"
        r1 = before.value if whole else before.slice(dimension, category).value
        r2, distance = expected[dimension, category]
        other = printed_r2(*_part(table, rounded, dimension, category))
        printed = {name: float(line[name]) for name in ("R1", "HD", "R2")}
        rows += [
            PaperComparison("R1", f"R1, {where}", printed["R1"], float(r1 or 0.0)),
            PaperComparison(HD, f"HD, {where}", printed["HD"], distance.mean, distance.sd * share),
            PaperComparison(
                R2,
                f"R2, {where}",
                printed["R2"],
                r2.mean,
                r2.sd * share,
                variant=other.mean,
                variant_error=other.sd * share,
            ),
        ]
    return rows


def printed_excess(F: IntArray, G: IntArray) -> FloatArray:
    """Return what the printed variant adds to H(X|Y) of (3.6), for each release G of the counts F.

    With p = F/N, q = G/M and m = min(p, q): Σ (q − m) log(max q/q), which is what log((q − m)/max q) in place of
    log((q − m)/q) changes in the last sum of (3.6). It is 0 or more, and 0 where G is empty.

    >>> F, G = np.array([2, 1, 0]), np.array([[0, 6, 3], [2, 1, 0], [0, 0, 0]])
    >>> printed_excess(F, G).round(4).tolist()
    [0.231, 0.0, 0.0]
    """
    q = G / np.maximum(G.sum(axis=-1, keepdims=True), 1)
    into = q - np.minimum(F / F.sum(), q)
    return np.asarray(xlogy(into, q.max(axis=-1, keepdims=True) / np.where(q > 0, q, 1.0)).sum(axis=-1))


def printed_r2(F: IntArray, G: IntArray) -> Expected:
    """Return the mean of R2 over releases G of the counts F, in the form of 2014 with the printed variant of (3.6)."""
    w, cells = np.array(DEFAULT_WEIGHTS), np.array([F.size])
    H, people = entropy(F), np.array([float(F.sum())])
    concentration = r1_terms(people, H, np.array([float(np.count_nonzero(F))]), cells)[0, 1]
    values = (w * r2_terms(F[None], G, cells, form="2014")[:, 0]).sum(axis=-1)
    if H[0] > 0:
        values += w[1] * concentration * printed_excess(F, G) / H[0]
    moments = Moments.of(values)
    return Expected(float(moments.mean), float(moments.sd), float(moments.error))


def _part(table: Table, rounded: IntArray, dimension: str, category: str) -> tuple[IntArray, IntArray]:
    """Return all counts of a slice, or of the whole table, empty ones included, and their roundings."""
    wide = np.zeros((rounded.shape[0], table.size), np.int64)
    wide[:, table.cells] = rounded
    if dimension == "table":
        return table.to_array().ravel(), wide
    mine = table.codes(dimension, np.arange(table.size)) == table.dimensions[table.axis(dimension)].code(category)
    return table.to_array().ravel()[mine], wide[:, mine]


def _both(rows: list[PaperComparison]) -> Section:
    """Return the whole tables by (3.6) and by the printed variant, and χ² of each over all printed R2."""
    members = [row for row in rows if row.group == R2]
    whole = [row for row in members if row.label.endswith("whole table")]
    lines = [[row.label, f"{row.printed:.4f}", f"{row.computed:.4f}", f"{row.variant:.4f}"] for row in whole]
    printed = np.array([row.printed for row in members])
    apart = [np.array([row.computed for row in members]), np.array([row.variant for row in members], np.float64)]
    errors = [np.array([row.error for row in members]), np.array([row.variant_error for row in members])]
    # A printed figure is rounded to four decimals, which adds the variance of a uniform error.
    z = [(a - printed) / np.sqrt(e**2 + 1e-8 / 12) for a, e in zip(apart, errors, strict=True)]
    lines.append([f"χ² over {len(members)} figures", "", *(f"{np.square(one).sum():.0f}" for one in z)])
    lines.append(["largest difference in standard errors", "", *(f"{np.abs(one).max():.1f}" for one in z)])
    return "R2 by (3.6) and by the printed variant", ["figure", "printed", "(3.6)", "variant"], lines
