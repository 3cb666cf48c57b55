"""Random streams that are explicit, independent and reproducible.

A seed goes in; every work item gets a stream of its own: the number of workers, and the order in which they finish,
never change a result.

Anyone who knows the seed of a release can undo it, and anyone who can try all seeds finds it. A seed that is not given
is therefore drawn from the operating system, and a short one makes trials only.
"""

from __future__ import annotations

import secrets
from typing import TypeAlias

import numpy as np

from discreet.core.errors import RequestError

Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator | None

BITS = 128
"""How many bits of a seed are drawn where none is given."""
LEAST = 2**96
"""A seed below this is short: all of them can be tried. Of seeds drawn with 128 bits, one in 2³² is."""


def drawn_seed() -> int:
    """Draw a seed from the operating system, which is never short.

    >>> drawn_seed() >> BITS
    1
    """
    return 1 << BITS | secrets.randbits(BITS)


def is_short(seed: Seed) -> bool:
    """Say whether all seeds like this one can be tried; a generator is as good as the seed it was made of.

    >>> is_short(1), is_short(drawn_seed()), is_short(None), is_short(np.random.default_rng(1))
    (True, False, False, True)
    """
    if seed is None:
        return False
    if isinstance(seed, np.random.Generator):
        seed = getattr(seed.bit_generator, "seed_seq", None)
    if isinstance(seed, np.random.SeedSequence):
        # Several words of entropy are one number; what is not known counts for nothing.
        words = np.atleast_1d(np.array(0 if seed.entropy is None else seed.entropy, object)).tolist()
        return 1 << sum(int(word).bit_length() for word in words) <= LEAST
    return seed is None or seed < LEAST


def release_seed(seed: int | None, *, trial: bool) -> int:
    """Return the seed of a release, drawn where none is given; a short one is refused unless it is for a trial.

    >>> release_seed(1, trial=True)
    1
    """
    if seed is None:
        return drawn_seed()
    _sequence(seed)
    if not trial and is_short(seed):
        raise RequestError(
            f"seed {seed} is short, below 2^96: all of them can be tried to undo the release. Leave the seed out to "
            f"have one of {BITS} bits drawn, or say that nothing of this is published (trial=True, --trial)"
        )
    return int(seed)


def _sequence(seed: int | np.random.SeedSequence | None) -> np.random.SeedSequence:
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise RequestError(f"seed is {seed!r}; give an integer, 0 or more")
    return np.random.SeedSequence(drawn_seed() if seed is None else seed)


def generator(seed: Seed) -> np.random.Generator:
    """Return a generator for a seed; a generator is returned unchanged.

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
