"""Random streams that are explicit, independent and reproducible.

A seed goes in; every work item gets a stream of its own, so that the number of workers, and the order in
which they finish, never change a result.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from discreet.core.errors import RequestError

Seed: TypeAlias = "int | np.random.SeedSequence | np.random.Generator | None"


def _sequence(seed: int | np.random.SeedSequence | None) -> np.random.SeedSequence:
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise RequestError(f"seed is {seed!r}; give a whole number that is 0 or more")
    return np.random.SeedSequence(seed)


def generator(seed: Seed) -> np.random.Generator:
    """Return a generator for a seed; a generator is handed back as it is.

    >>> generator(1).integers(10, size=3).tolist() == generator(1).integers(10, size=3).tolist()
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.Generator(np.random.SFC64(_sequence(seed)))


def spawn(seed: Seed, n: int) -> list[np.random.Generator]:
    """Return n independent generators, the same ones for the same seed.

    >>> a, b = spawn(1, 2)
    >>> a.random() != b.random()
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed.spawn(n)
    # A fresh copy of the sequence, because spawning advances its counter of children.
    root = _sequence(seed)
    root = np.random.SeedSequence(root.entropy, spawn_key=root.spawn_key, pool_size=root.pool_size)
    return [np.random.Generator(np.random.SFC64(child)) for child in root.spawn(n)]
