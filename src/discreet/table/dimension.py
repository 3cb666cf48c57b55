"""A dimension: a name and its labelled categories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.grid import Grid


@dataclass(frozen=True)
class Dimension:
    """A classifying variable of a table, with its categories in order.

    Labels are text: a table read from a file and one built from numbers join by the same keys.

    >>> Dimension("sex", (1, 2)).categories
    ('1', '2')
    """

    name: str
    categories: tuple[str, ...]

    def __init__(self, name: str, categories: Iterable[object]) -> None:
        labels = tuple(str(label) for label in categories)
        if not isinstance(name, str) or not name:
            raise DataError(f"dimension name is {name!r}; give a text that is not empty")
        if not labels:
            raise DataError(f"dimension {name!r} has no categories; give at least one")
        if "" in labels:
            raise DataError(f"category {labels.index('') + 1} of dimension {name!r} is empty; label every category")
        if len(set(labels)) != len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise DataError(f"dimension {name!r} lists category {twice!r} twice; every label must be unique")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "categories", labels)

    def __len__(self) -> int:
        return len(self.categories)

    def code(self, category: object) -> int:
        """Return the position of a category.

        >>> Dimension("sex", ("m", "f")).code("f")
        1
        """
        try:
            return self.categories.index(str(category))
        except ValueError:
            hint = nearest(str(category), self.categories)
            raise RequestError(f"dimension {self.name!r} has no category {str(category)!r}; {hint}") from None

    def codes(self, labels: Iterable[str]) -> IntArray:
        """Return the positions of several categories."""
        known = {label: code for code, label in enumerate(self.categories)}
        return np.array([known[label] if label in known else self.code(label) for label in labels], np.int64)


def grid_of(dimensions: Iterable[Dimension]) -> Grid:
    """Return the grid of all combinations of categories.

    >>> grid_of([Dimension("area", "ns"), Dimension("sex", "mf")]).describe(2)
    'area=s, sex=m'
    """
    return Grid.of({dimension.name: dimension.categories for dimension in dimensions})
