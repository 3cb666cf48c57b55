"""Which processes of the tests are measured by coverage."""

from __future__ import annotations

import os

VARIABLE = "COVERAGE_PROCESS_CONFIG"
kept: dict[str, str] = {}
"""The environment of processes that are measured: workbenches, whose code runs nowhere else."""


def measure_workbenches_alone() -> None:
    """Do not measure the processes that tests start: commands in them run code that other tests run in this one."""
    if VARIABLE in os.environ:
        kept[VARIABLE] = os.environ.pop(VARIABLE)
