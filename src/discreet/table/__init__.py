"""Tables: counts of people cross-classified by named dimensions, their readers and writers, and releases."""

from discreet.table.grid import Dimension
from discreet.table.release import Release
from discreet.table.table import Table

__all__ = ["Dimension", "Release", "Table"]
