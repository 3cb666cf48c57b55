"""Laws p(x | y): how likely each value of a hidden figure is to somebody who has seen what is published."""

from discreet.auditing.laws.base import Judged
from discreet.auditing.laws.interval import by_interval
from discreet.auditing.laws.method import by_method
from discreet.auditing.laws.tables import by_tables

LAWS = {"interval": by_interval, "tables": by_tables, "method": by_method}

__all__ = ["LAWS", "Judged", "by_interval", "by_method", "by_tables"]
