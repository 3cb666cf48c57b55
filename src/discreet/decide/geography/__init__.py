"""Two divisions of one territory published side by side: what differences of unions of their zones give away."""

from discreet.decide.geography.differences import Difference, GeographicDifferences, geography

__all__ = ["Difference", "GeographicDifferences", "geography"]
