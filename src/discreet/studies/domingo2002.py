"""Replay of domingo2002: conditional entropy as disclosure risk of suppressed, rounded, redesigned, linked tables."""

from __future__ import annotations

import math

import numpy as np

from discreet.auditing.audit import audit
from discreet.core.errors import DataError, both_shown
from discreet.studies.comparison import PaperComparison, Section, Study, StudyEffort, published
from discreet.table.attacker import Attacker
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Conventional, Kind, Marked

SIZES = ("4", "5", "6", "7", "8", "Total")
PRINTED_INTERVALS = {
    "x1": ("5", "5", 0, 406),
    "x2": ("5", "7", 1131, 1537),
    "x3": ("6", "5", 0, 406),
    "x4": ("6", "7", 845, 1251),
}
PRINTED_VALUES, PRINTED_DR = 407, 0.115
PRINTED_MERGED = {"4": 649, "5": 406, "6": 1275, "7": 2382, "8": 3467, "Total": 8179}
"""The right-hand sides of the equations of section 4.3: the sums of rows 5 and 6."""
PRINTED_MARGIN = 1148
"""The total of size class 4 as Tables 1 and 2 print it; their cells add up to 1448."""
BASE = 10


def replay(effort: StudyEffort) -> Study:
    """Audit every example of domingo2002 section 4, and compare the printed results exactly with ours.

    >>> replay(StudyEffort()).reproduced
    True
    """
    rows: list[PaperComparison] = []
    suppressed = audit(table_1(), workers=effort.workers, progress=effort.progress)
    for name, (activity, size, lower, upper) in PRINTED_INTERVALS.items():
        cell = suppressed.cell(activity=activity, size=size)
        where = f"{name} (activity {activity}, size {size})"
        for what, printed, found, decimals in (
            ("least value", lower, cell.lower, 0),
            ("largest value", upper, cell.upper, 0),
            ("values", PRINTED_VALUES, cell.values, 0),
            ("DR = 1/log2 m", PRINTED_DR, cell.dr, 3),
        ):
            rows.append(PaperComparison("Suppression, Table 1", f"{where}, {what}", printed, found, decimals=decimals))
    merged = audit(table_2(), about=["activity", "size"], workers=effort.workers)
    for size, value in PRINTED_MERGED.items():
        for activity in ("5", "6"):
            found = _row_total(activity) if size == "Total" else merged.cell(activity=activity, size=size).upper
            label = f"activity {activity}, size {size}, largest value"
            rows.append(PaperComparison("Redesign, Table 2", label, value, found, decimals=0))
    rows += _insider()
    proofs = [
        [c.name, f"{c.lower:,.0f} to {c.upper:,.0f}", f"{c.dr:.5f}", f"{c.prior_dr:.5f}", c.proof]
        for c in suppressed.cells
    ]
    header = ["cell", "interval", "DR (3)", "DR before (1)", "proof"]
    proved = ("Suppression: every interval with its proof", header, proofs)
    remarks, extra = (*REMARKS, _misprint()), (proved, _rounding(), _linked(), _others())
    return Study("domingo2002", *TITLE, {"seed": effort.seed}, tuple(rows), remarks, extra)


def _printed() -> dict[str, list[int | None]]:
    """Return the rows of Table 1."""
    rows: dict[str, list[int | None]] = {}
    for line in published("domingo2002-table1"):
        rows.setdefault(line["activity"], []).append(int(line["value"]) if line["value"] else None)
    return rows


def table_1(margin: int | None = None) -> Figures:
    """Return Table 1 of the paper, with the printed total of size class 4 if it is given.

    It shows zeros, and the paper still lets hidden figures be 0.
    """
    rows = _printed()
    if margin is not None:
        rows["Total"][0] = margin
    mark = Marked(least=0)
    return Figures.from_array(list(rows.values()), {"activity": list(rows), "size": SIZES}, mark=mark, name="Table 1")


def table_2() -> Figures:
    """Return Table 2 of the paper: activities 5 and 6 are published together only."""
    rows = {**_printed(), "5,6": list(PRINTED_MERGED.values())}
    shown = ("2,3", "4", "5,6", "7", "Total")
    tree = Hierarchy.from_parents([*((name, None) for name in shown[:-1]), ("5", "5,6"), ("6", "5,6")])
    labels, trees = {"activity": list(shown), "size": SIZES}, {"activity": (tree,)}
    array = [rows[name] for name in shown]
    return Figures.from_array(array, labels, hierarchies=trees, absent="unpublished", name="Table 2")


def _row_total(activity: str) -> float:
    name = f"all of activity {activity}"
    result = audit(table_2(), sums={name: [{"activity": activity}]})
    return next(cell.upper for cell in result.cells if cell.cell.get("sum") == name)


def _insider() -> list[PaperComparison]:
    """Return what an outsider and the second largest contributor know of 995 ≤ z ≤ 1004."""
    shown = Figures.from_array([1000], {"cell": ["z"]}, kind=Conventional(base=BASE), name="z")
    result = audit(shown, attackers=[Attacker.insider({"cell": "z"}, 400, name="company A")])
    outside, inside = result.cell("outsider", cell="z"), result.cell("company A", cell="z")
    group = "Insider, section 4.4"
    return [
        PaperComparison(group, "outsider, least value of z", 995, outside.lower, decimals=0),
        PaperComparison(group, "outsider, largest value of z", 1004, outside.upper, decimals=0),
        PaperComparison(group, "company A (400), least of the largest other", 595, inside.lower, decimals=0),
        PaperComparison(group, "company A (400), most of the largest other", 604, inside.upper, decimals=0),
    ]


def _misprint() -> str:
    try:
        audit(table_1(PRINTED_MARGIN))
    except DataError as error:
        with both_shown():
            told = str(error)
        return (
            f"**A misprint.** Tables 1 and 2 print {PRINTED_MARGIN} as the total of size class 4. An audit refuses "
            f"such a table: *{told}*. With 1448 the grand total 20139 is right, too, and that is what is used here."
        )
    raise AssertionError("a margin that does not add up went unnoticed")


def _rounding() -> Section:
    """Return the intervals that rounding to base 10 leaves for rows of Table 2, without its margins and with them."""
    cells = {"2,3": [80, 253, 54], "5,6": [649, 406, 1275]}
    rounded = {name: [BASE * ((value + BASE // 2) // BASE) for value in row] for name, row in cells.items()}
    kind = Conventional(base=BASE)
    labels: dict[str, tuple[str, ...]] = {"activity": (*cells, "Total"), "size": ("4", "5", "6", "Total")}
    array = np.array(list(cells.values()))
    margins = np.concatenate([array.sum(axis=1), array.sum(axis=0), [array.sum()]])
    inner = [(i, j) for i in range(2) for j in range(3)]
    edges = [*((i, 3) for i in range(2)), *((2, j) for j in range(3)), (2, 3)]
    values = np.array([rounded[name][j] for name in cells for j in range(3)])
    kinds = (kind, Kind())
    apart = Figures(labels, np.array(inner), values, np.zeros(6, np.int64), kinds, name="rounded")
    every, figures = np.array([*inner, *edges]), np.concatenate([values, margins])
    both = Figures(labels, every, figures, np.repeat([0, 1], 6), kinds, name="rounded, exact margins")
    one, two = audit(apart), audit(both)
    rows = []
    for i, j in inner:
        where = {"activity": labels["activity"][i], "size": labels["size"][j]}
        row = [f"activity {where['activity']}, size {where['size']}", str(rounded[where["activity"]][j])]
        for cell in (one.cell(**where), two.cell(**where)):
            row += [f"{cell.lower:,.0f} to {cell.upper:,.0f}", f"{cell.dr:.4f}"]
        rows.append(row)
    header = ["cell", "rounded", "without margins", "DR", "with exact margins", "DR"]
    return f"Rounding to base {BASE}, section 4.2: six cells of Table 2", header, rows


TURNOVER = ((((3, 1, 0), (2, 0, 4))), (((0, 5, 1), (1, 2, 2))), (((6, 0, 0), (0, 1, 0))))
"""A table of our own: activity × size × region."""


def _linked() -> Section:
    """Return expressions (5), (6) and (7) for every cell of a table of our own."""
    truth = np.array(TURNOVER)
    labels = {"activity": ["a1", "a2", "a3"], "size": ["s1", "s2"], "region": ["r1", "r2", "r3"]}
    names = list(labels)
    scenarios = []
    for shown in (("AS",), ("AS", "AR"), ("AS", "AR", "SR")):
        parts = []
        for pair in shown:
            kept = [name for name in names if name[0].upper() in pair]
            axes = tuple(i for i, name in enumerate(names) if name not in kept)
            parts.append(Figures.from_array(truth.sum(axis=axes).tolist(), {n: labels[n] for n in kept}, name=pair))
        scenarios.append(audit(parts, about=labels))
    rows = []
    for i, j, k in np.ndindex(*truth.shape):
        cell = {"activity": labels["activity"][i], "size": labels["size"][j], "region": labels["region"][k]}
        row = [" ".join(cell.values()), str(int(truth[i, j, k]))]
        for result in scenarios:
            found = result.cell(**cell)
            row += [f"{found.lower:.0f} to {found.upper:.0f}", "∞" if math.isinf(found.dr) else f"{found.dr:.4f}"]
        rows.append(row)
    header = ["cell", "true", "AS", "DR (5)", "AS, AR", "DR (6)", "AS, AR, SR", "DR (7)"]
    return "Linked tables, section 4.4: a table of our own in three scenarios", header, rows


def _others() -> Section:
    """Return worked examples from elsewhere, with their known answers."""
    both = {"row": [1, 2, 3, "Total"], "column": [1, 2, "Total"]}
    geurts = audit(
        Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both), law="tables"
    ).cell(row=1, column=1)
    wide = {"row": [1, 2, 3, "Total"], "column": [1, 2, 3, "Total"]}
    hidden = [[None, None, None, total] for total in (51, 104, 50)]
    fibers = audit(Figures.from_array([*hidden, [46, 99, 60, 205]], wide), law="tables")
    tree = Hierarchy.from_parents({"inside": "all", "outside": "all", "all": "Total"})
    labels = {"age": ["1", "2", "3"], "sex": ["m", "f"]}
    parts = [
        Figures.from_array([rows], {"area": [area], **labels}, hierarchies={"area": (tree,)}, absent="unpublished")
        for area, rows in (("inside", [[50, 54], [128, 140], [39, 49]]), ("all", [[52, 55], [130, 140], [39, 49]]))
    ]
    apart = audit(parts, about=["area", "age", "sex"])
    ring = [apart.cell(area="outside", age=age, sex=sex) for age in "123" for sex in "mf"]
    rows = [
        ["Geurts: X11", "3 to 6, 2 bits, DR 0.5", f"{geurts.lower:.0f} to {geurts.upper:.0f}, {geurts.bits:g} bits, "
         f"DR {geurts.dr:g}"],
        ["3 × 3 tables with rows 51, 104, 50 and columns 46, 99, 60", "1,268,792", f"{fibers.tables:,}"],
        ["differencing two geographies", "2, 1, 2, 0, 0, 0", ", ".join(f"{cell.lower:.0f}" for cell in ring)],
    ]  # fmt: skip
    return "Worked examples of others", ["example", "known answer", "computed"], rows


TITLE = (
    "Domingo-Ferrer, Oganian and Torra (2002): replay of section 4",
    "J. Domingo-Ferrer, A. Oganian, V. Torra (2002). *Information-theoretic disclosure risk measures in statistical "
    "disclosure control of tabular data.* Sections 3 and 4, Tables 1 and 2.",
)
REMARKS = (
    "**What is computed.** DR = 1/H(X | Y = y) in bits, expression (2); with all values of an interval alike it is "
    "1/log2 m(S), expression (3). The paper rounds 1/log2 407 = 0.11536 to 0.115. Beside it stands expression (1), the "
    "reciprocal of the entropy before anything on the cell is published: all values up to the largest figure in print "
    "are alike then.",
    "**Section 4.2** prints no table. The six cells below are rounded conventionally; a reader of the rounded cells "
    "alone has [y − b/2, y + b/2), and exact margins leave less, in some cells much less.",
    "**Section 4.4** prints expressions only. Every further two-way table leaves less of the cells.",
)
