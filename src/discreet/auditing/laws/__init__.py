"""Laws p(x | y): how likely each value of a hidden figure is to a reader of what is published."""

from discreet.auditing.laws.law import Judged, ReaderLaw, by_interval
from discreet.auditing.laws.method import by_method
from discreet.auditing.laws.tables import by_tables
from discreet.core.registry import Registry

INTERVAL = ReaderLaw(
    "interval",
    "Bits and DR take all values of an interval to be equally likely; to weigh them as a reader who knows the method "
    "does, ask for the law of the method (law='method', --law method).",
    by_interval,
    even=True,
)
TABLES = ReaderLaw("tables", "Bits and DR take all tables that fit to be equally likely.", by_tables)
METHOD = ReaderLaw(
    "method",
    "Bits and DR are those of a reader who knows the method and takes all figures together; a dash says that this is "
    "not shown.",
    by_method,
)
LAWS: Registry[ReaderLaw] = Registry("discreet.laws", "law", {law.name: law for law in (INTERVAL, TABLES, METHOD)})
"""The laws by name; other packages add theirs through the entry points ``discreet.laws``."""

__all__ = ["LAWS", "Judged", "ReaderLaw", "by_interval", "by_method", "by_tables"]
