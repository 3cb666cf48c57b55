"""Models of the population behind a sample table: log-linear models and the Pólya urn."""

from discreet.core.registry import Registry
from discreet.models.goodness import Goodness, goodness_of_fit
from discreet.models.loglinear import FittedLogLinear, LogLinear
from discreet.models.polya import PolyaUrn
from discreet.models.population import Population, PopulationModel

MODELS: Registry[type[PopulationModel]] = Registry(
    "discreet.models", "population model", {LogLinear.name: LogLinear, PolyaUrn.name: PolyaUrn}
)
"""The models by name; other packages add theirs through the entry points ``discreet.models``."""

__all__ = [
    "MODELS",
    "FittedLogLinear",
    "Goodness",
    "LogLinear",
    "PolyaUrn",
    "Population",
    "PopulationModel",
    "goodness_of_fit",
]
