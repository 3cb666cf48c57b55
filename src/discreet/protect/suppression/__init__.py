"""Cell suppression: one problem over linked tables, a fast and an optimal method, and what is published."""

from discreet.protect.suppression.pattern import Pattern
from discreet.protect.suppression.primary import Wish
from discreet.protect.suppression.suppression import Suppression

__all__ = ["Pattern", "Suppression", "Wish"]
