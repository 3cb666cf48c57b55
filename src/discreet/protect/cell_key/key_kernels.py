"""Compiled kernels: noise by cell key, and a keyed hash; imported only when cells are perturbed or records hashed.

SipHash-2-4 (Aumasson and Bernstein 2012) is a pseudo-random function: without its secret of 128 bits nobody can
distinguish its values from uniform random numbers, whatever texts they choose, and equal texts give equal values.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.core.compiled import compiled
from discreet.core.numerics import IntArray

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


@compiled
def perturb(counts: IntArray, keys: IntArray, ends: IntArray, noise: IntArray, out: IntArray) -> None:
    """Add to each count the noise of the first interval of keys that its cell key lies in."""
    last = ends.shape[0] - 1
    for i in range(counts.size):
        row = min(counts[i], last)
        key = keys[i]
        j = 0
        while key >= ends[row, j]:
            j += 1
        out[i] = counts[i] + noise[row, j]


@compiled
def turn(word: np.uint64, bits: np.uint64) -> np.uint64:
    """Rotate the bits of a word to the left."""
    return (word << bits) | (word >> (np.uint64(64) - bits))


@compiled
def mix(v: Words, rounds: int) -> None:
    """Do the rounds of SipHash on its four words."""
    for _ in range(rounds):
        v[0] += v[1]
        v[1] = turn(v[1], np.uint64(13)) ^ v[0]
        v[0] = turn(v[0], np.uint64(32))
        v[2] += v[3]
        v[3] = turn(v[3], np.uint64(16)) ^ v[2]
        v[0] += v[3]
        v[3] = turn(v[3], np.uint64(21)) ^ v[0]
        v[2] += v[1]
        v[1] = turn(v[1], np.uint64(17)) ^ v[2]
        v[2] = turn(v[2], np.uint64(32))


@compiled
def siphash(data: Bytes, offsets: IntArray, secret: Words, out: Words) -> None:
    """Hash the texts data[offsets[i]:offsets[i + 1]] with a secret of two words."""
    v = np.zeros(4, np.uint64)
    for i in range(offsets.size - 1):
        start, stop = offsets[i], offsets[i + 1]
        v[0] = secret[0] ^ np.uint64(0x736F6D6570736575)
        v[1] = secret[1] ^ np.uint64(0x646F72616E646F6D)
        v[2] = secret[0] ^ np.uint64(0x6C7967656E657261)
        v[3] = secret[1] ^ np.uint64(0x7465646279746573)
        place = start
        while stop - place >= 8:
            word = np.uint64(0)
            for k in range(8):
                word |= np.uint64(data[place + k]) << np.uint64(8 * k)
            v[3] ^= word
            mix(v, 2)
            v[0] ^= word
            place += 8
        word = np.uint64((stop - start) & 255) << np.uint64(56)
        for k in range(stop - place):
            word |= np.uint64(data[place + k]) << np.uint64(8 * k)
        v[3] ^= word
        mix(v, 2)
        v[0] ^= word
        v[2] ^= np.uint64(255)
        mix(v, 4)
        out[i] = v[0] ^ v[1] ^ v[2] ^ v[3]
