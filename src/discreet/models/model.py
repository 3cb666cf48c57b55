"""What every model of a population offers."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from discreet.models.population import Population
from discreet.table import Table


class PopulationModel(Protocol):
    """A model with its parameters: it draws the people outside a sample."""

    name: ClassVar[str]

    def population(self, sample: Table, population: int) -> Population:
        """Return the law of the population of N people that a sample is from."""

    def details(self, sample: Table, fitted: Population) -> dict[str, Any]:
        """Say how the model was fitted, as plain data."""
