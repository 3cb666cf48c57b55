"""Models of the population behind a sample table: log-linear models and the Pólya urn."""

from discreet.models.goodness import Goodness, goodness_of_fit
from discreet.models.loglinear import FittedLogLinear, LogLinear
from discreet.models.polya import PolyaUrn
from discreet.models.population import Population

__all__ = ["FittedLogLinear", "Goodness", "LogLinear", "PolyaUrn", "Population", "goodness_of_fit"]
