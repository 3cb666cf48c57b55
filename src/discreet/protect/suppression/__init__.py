"""Cell suppression: one problem over linked tables, a fast and an optimal method, and what is published."""

from discreet.protect.suppression.method import Suppression
from discreet.protect.suppression.pattern import Pattern
from discreet.protect.suppression.primary import Wish

__all__ = ["Pattern", "Suppression", "Wish"]
