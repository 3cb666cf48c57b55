"""Tables of the founding papers, ready to use.

Counts of people in ten output areas of the 2001 UK census, as printed in antal2014, Tables 1 to 4; the religion
table is also Table 1 of antal2015. The cholesterol table is a sample table, Table 1 of cohen2009. The
territory is made up.
"""

from __future__ import annotations

from pathlib import Path

from discreet.core.errors import RequestError, nearest
from discreet.table import Table

__all__ = ["cholesterol", "country_of_birth", "load", "mode_of_travel", "religion", "sex", "territory"]

CENSUS = ("country_of_birth", "mode_of_travel", "sex", "religion")
NAMES = (*CENSUS, "cholesterol")
BUNDLED = (*NAMES, "territory")
"""All tables that come with discreet: those of the papers, and one that is made up."""


def load(name: str) -> Table:
    """Return a bundled table by name.

    >>> load("sex").shape
    (10, 2)
    """
    if name not in BUNDLED:
        raise RequestError(f"there is no bundled table {name!r}; {nearest(name, BUNDLED)}")
    from discreet.table.table_reader import read_table

    return read_table(Path(__file__).with_name(f"{name}.csv"))


def country_of_birth() -> Table:
    """Output area × country of birth, 10 × 17; antal2014 Table 1."""
    return load("country_of_birth")


def mode_of_travel() -> Table:
    """Output area × mode of travel, 10 × 11, people of 16 to 74 years; antal2014 Table 2."""
    return load("mode_of_travel")


def sex() -> Table:
    """Output area × sex, 10 × 2; antal2014 Table 3."""
    return load("sex")


def religion() -> Table:
    """Output area × religion, 10 × 9; antal2014 Table 4 and antal2015 Table 1."""
    return load("religion")


def cholesterol() -> Table:
    """Sex × years with the company of the employees found to have high cholesterol, 2 × 5; cohen2009 Table 1."""
    return load("cholesterol")


def territory() -> Table:
    """Area × grid cell of 200 m, people of five areas that are made up: two divisions of one territory."""
    return load("territory")
