"""Protections: methods that turn an original table into a release.

Each method is one file: a frozen object of its parameters, which draws releases and knows its own law, and a
function of the same name that releases a table in one call.
"""

from discreet.protect.random_rounding import RandomRounding, random_rounding
from discreet.protect.random_sample import RandomSample, random_sample

METHODS = {method.name: method for method in (RandomRounding, RandomSample)}

__all__ = ["METHODS", "RandomRounding", "RandomSample", "random_rounding", "random_sample"]
