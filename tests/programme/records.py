"""Generated records and plans of them."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np


def firms(folder: Path, n: int = 300, seed: int = 1) -> Path:
    """Write records of firms: an area of two levels, size, form, and turnover of two kinds of lettuce and of pizza."""
    draw = np.random.default_rng(seed)
    rows = ["id,region,district,size,form,batavia,arugula,lettuce,pizza"]
    for i in range(n):
        region, district = draw.integers(3), draw.integers(3)
        size, form = draw.choice(3, p=[0.7, 0.25, 0.05]), draw.choice(2, p=[0.8, 0.2])
        batavia, arugula, pizza = (int(draw.lognormal(4, 1)) + 1 for _ in range(3))
        where = f"r{region},r{region}d{district},s{size},f{form}"
        rows.append(f"{i},{where},{batavia},{arugula},{batavia + arugula},{pizza}")
    (folder / "firms.csv").write_text("\n".join(rows) + "\n")
    return folder / "firms.csv"


def people(folder: Path, n: int = 2000, seed: int = 2) -> Path:
    """Write records of people: area of two levels, sex, age, work, and a key."""
    draw = np.random.default_rng(seed)
    rows = ["region,district,sex,age,work,key"]
    for _ in range(n):
        region, district = draw.integers(3), draw.integers(4)
        other = f"{'mf'[draw.integers(2)]},a{draw.choice(4, p=[0.4, 0.3, 0.25, 0.05])},w{draw.choice(3)}"
        rows.append(f"r{region},r{region}d{district},{other},{draw.integers(2**32)}")
    (folder / "people.csv").write_text("\n".join(rows) + "\n")
    return folder / "people.csv"


def register(folder: Path, n: int = 3000, values: int = 3, seed: int = 3) -> str:
    """Write a register of firms with three hierarchies and two other dimensions; return a plan, ten tables a value."""
    draw = np.random.default_rng(seed)
    nested = {"region": (3, 3), "branch": (4, 2), "size": (2, 2)}
    rows = [[f"{i}" for i in range(n)]]
    for name, (groups, below) in nested.items():
        first, second = draw.integers(groups, size=n), draw.integers(below, size=n)
        rows += [[f"{name[0]}{a}" for a in first], [f"{name[0]}{a}{b}" for a, b in zip(first, second, strict=True)]]
    rows += [[f"c{k}" for k in draw.integers(3, size=n)] for _ in range(2)]
    rows += [[f"{int(x) + 1}" for x in draw.lognormal(4, 1.5, n)] for _ in range(values)]
    head = [
        "id",
        *(f"{name}{depth}" for name in nested for depth in (1, 2)),
        "x",
        "y",
        *(f"v{k}" for k in range(values)),
    ]
    lines = [",".join(row) for row in [head, *zip(*rows, strict=True)]]
    (folder / "register.csv").write_text("\n".join(lines) + "\n")
    pairs = [*combinations(nested, 2), *product(nested, "xy"), ("x", "y")]
    tables = [table(f"v{k} {a} {b}", [a, b], f"v{k}") for k in range(values) for a, b in pairs]
    plan = BUSINESS + '[records]\nfiles = "register.csv"\ncontributor = "id"\n'
    return plan + "".join(f'[dimensions.{n}]\ncolumns = ["{n}1", "{n}2"]\n' for n in nested) + "".join(tables)


def table(name: str, by: list[str], value: str = "", **more: str) -> str:
    """Return a table of a plan."""
    lines = ["[[tables]]", f'name = "{name}"', f"by = {by}".replace("'", '"')]
    lines += [f'value = "{value}"'] if value else []
    lines += [f"{key} = {text}" for key, text in more.items()]
    return "\n".join(lines) + "\n"


AREA = '[dimensions.area]\ncolumns = ["region", "district"]\n'
BUSINESS = 'title = "firms"\nperiod = "2024"\npolicy = "business"\n'
FIRMS = '[records]\nfiles = "firms.csv"\ncontributor = "id"\n' + AREA
PEOPLE = '[records]\nfiles = "people.csv"\n'
