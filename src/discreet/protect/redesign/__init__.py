"""Redesign: merged categories, by hand, by level of a hierarchy, or advised by a search."""

from discreet.protect.redesign.advice import Advice, MergeStep, advise, violations
from discreet.protect.redesign.merged import Cost, Redesign, redesign
from discreet.protect.redesign.recode import merging, to_levels

__all__ = ["Advice", "Cost", "MergeStep", "Redesign", "advise", "merging", "redesign", "to_levels", "violations"]
