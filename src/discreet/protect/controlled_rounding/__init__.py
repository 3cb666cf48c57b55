"""Controlled rounding: every figure to a neighbouring multiple of the base, with all sums intact."""

from discreet.protect.controlled_rounding.controlled import ControlledRounding, controlled_rounding

__all__ = ["ControlledRounding", "controlled_rounding"]
