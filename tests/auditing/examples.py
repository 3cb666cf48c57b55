"""The worked examples of domingo2002 and others."""

from __future__ import annotations

from discreet.table.figures import Figures
from discreet.table.kinds import Kind

SIZES = ["4", "5", "6", "7", "8", "Total"]
TABLE_1: dict[str, list[int | None]] = {
    "2,3": [80, 253, 54, 0, 0, 387],
    "4": [641, 3694, 2062, 746, 0, 7143],
    "5": [592, None, 329, None, 1440, 3898],
    "6": [57, None, 946, None, 2027, 4281],
    "7": [78, 0, 890, 1719, 1743, 4430],
    "Total": [1448, 4353, 4281, 4847, 5210, 20139],
}
TABLE_2: dict[str, list[int | None]] = {
    "2,3": [80, 253, 54, 0, 0, 387],
    "4": [641, 3694, 2062, 746, 0, 7143],
    "5,6": [649, 406, 1275, 2382, 3467, 8179],
    "7": [78, 0, 890, 1719, 1743, 4430],
    "Total": [1448, 4353, 4281, 4847, 5210, 20139],
}


def csv_of(rows: dict[str, list[int | None]], mark: str = "", wide: bool = False) -> str:
    def text(value: int | None) -> str:
        return mark if value is None else str(value)

    if wide:
        lines = ["activity\\size," + ",".join(SIZES)]
        lines += [f'"{a}",' + ",".join(text(v) for v in row) for a, row in rows.items()]
    else:
        lines = ["activity,size,value"]
        lines += [f'"{a}",{s},{text(v)}' for a, row in rows.items() for s, v in zip(SIZES, row, strict=True)]
    return "\n".join(lines) + "\n"


def table_1() -> Figures:
    mark = Kind("suppressed", least=0)
    return Figures.from_array(
        list(TABLE_1.values()), {"activity": list(TABLE_1), "size": SIZES}, mark=mark, name="table 1"
    )


def geurts() -> Figures:
    both = {"row": [1, 2, 3, "Total"], "column": [1, 2, "Total"]}
    mark = Kind("suppressed", least=0)
    return Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both, mark=mark)
