"""The samplers in calls of NumPy, a row at a time: the same numbers from the same words, without compiling.

They stand in for the kernels of :mod:`discreet.models.samplers` while work is small. A row takes some twenty calls of
NumPy however many cells there are, where the interpreted loop takes a turn for each cell and ball.
"""

from __future__ import annotations

import numpy as np

from discreet.core.compiled import spend
from discreet.core.numerics import FloatArray, IntArray
from discreet.models import samplers
from discreet.models.samplers import MultinomialCells, Short, Start, Tables, Words

CHUNK = 2**14
"""Uniform numbers that are drawn in advance; a round choice, 50 µs of work."""
ROW = 6
"""One try at a row of a multinomial takes as long as this many turns of an interpreted loop: measured, 13 µs."""


class Uniforms:
    """The doubles that four words of SFC64 give, drawn in advance.

    >>> words = np.array([1, 2, 3, 4], np.uint64)
    >>> twin = words.copy()
    >>> stream = Uniforms(words)
    >>> stream.take(2).tolist() == [samplers.uniform(twin) for _ in range(2)]
    True
    >>> stream.stop()
    >>> words.tolist() == twin.tolist()
    True
    """

    def __init__(self, words: Words) -> None:
        self.words = words
        self.drawn, self.used = np.empty(0), 0
        self.ahead = np.random.SFC64()
        self._set(self.ahead, words)

    @staticmethod
    def _set(bits: np.random.SFC64, words: Words) -> None:
        state = bits.state
        state["state"]["state"] = words.copy()
        state["has_uint32"] = 0
        bits.state = state

    def take(self, number: int) -> FloatArray:
        """Return the next numbers."""
        if self.used + number > self.drawn.size:
            self._advance()
            self.drawn = np.concatenate([self.drawn, np.random.Generator(self.ahead).random(max(number, CHUNK))])
        self.used += number
        return self.drawn[self.used - number : self.used]

    def back(self, number: int) -> None:
        """Put back the last numbers."""
        self.used -= number

    def stop(self) -> None:
        """Advance the words by what was used."""
        self._advance()
        self.drawn = np.empty(0)

    def _advance(self) -> None:
        behind = np.random.SFC64()
        self._set(behind, self.words)
        np.random.Generator(behind).random(self.used)
        self.words[:] = behind.state["state"]["state"]
        self.drawn, self.used = self.drawn[self.used :], 0


def _picked(u: FloatArray, tables: Tables, which: IntArray | list[int]) -> IntArray:
    """Draw from tables, one number each."""
    u = u * tables.lengths[which]
    slot = u.astype(np.int64)
    at = tables.starts[which] + slot
    picked: IntArray = tables.lows[which] + np.where(u < tables.cut[at], slot, tables.alias[at])
    return picked


def _alias(weights: FloatArray) -> tuple[FloatArray, Short]:
    cut, alias = np.empty(weights.size), np.empty(weights.size, np.int32)
    samplers.fill_alias(weights, weights.size, 0, cut, alias, np.empty(weights.size, np.int64))
    return cut, alias


@samplers.lay.in_arrays
def lay(owner: Short, start: int, balls: int, colour: int) -> int:
    """See :func:`discreet.models.samplers.lay`."""
    owner[start : start + balls] = colour
    return start + balls


@samplers.multinomial.in_arrays
def multinomial(words: Words, base: IntArray, draws: int, split: MultinomialCells, out: IntArray) -> None:
    """See :func:`discreet.models.samplers.multinomial`."""
    means, heavy, rest, every = split
    tables = samplers.tabulate(np.zeros(means.size), means)
    by_cell, by_rest = _alias(every.weights), _alias(rest.weights)
    which, stream = np.arange(means.size), Uniforms(words)

    def scatter(line: IntArray, cells: IntArray, table: tuple[FloatArray, Short], balls: int) -> None:
        u = stream.take(balls) * cells.size
        slot = u.astype(np.int64)
        np.add.at(line, cells[np.where(u < table[0][slot], slot, table[1][slot])], 1)

    for line in out:
        total = draws + 1
        while total > draws:
            spend(ROW)
            added = _picked(stream.take(means.size), tables, which)
            total = int(added.sum())
        line[:] = base
        line[heavy] += added[: heavy.size]
        if rest.cells.size > 0:
            scatter(line, rest.cells, by_rest, int(added[heavy.size]))
        scatter(line, every.cells, by_cell, draws - total)
    stream.stop()


@samplers.urn.in_arrays
def urn(words: Words, start: Start, cells: IntArray, draws: int, out: IntArray) -> None:
    """See :func:`discreet.models.samplers.urn`."""
    base, n, size = start.base, start.n, start.base.size
    tables, stream = samplers.tabulate(start.shapes, start.ratios), Uniforms(words)
    sample = np.repeat(np.arange(size), base)
    for line in out:
        spend(5 * ROW + (n + draws) // 200)
        count, owner = base, sample
        if start.shapes.size > 0:
            leapt = None
            while leapt is None:
                leapt = _leap(stream, start, n + draws + start.slack, tables)
            count = leapt
            more = count.copy()
            more[:size] -= base
            # The sample's balls stay in front; colours without balls come to nothing.
            owner = np.concatenate([sample, np.repeat(np.arange(more.size), more)])
        count = _settle(stream, owner, count, n, n + draws, start.theta)
        new = count[size:]
        new = new[new > 0]
        if new.size > cells.size:
            _cap(stream, count, new, start, draws, cells)
        else:
            for i, u in enumerate(stream.take(new.size).tolist()):
                j = i + int(u * (cells.size - i))
                cells[i], cells[j] = cells[j], cells[i]
            count[cells[: new.size]] = new
        line[:] = count[:size]
    stream.stop()


def _leap(stream: Uniforms, start: Start, most: int, tables: Tables) -> IntArray | None:
    """Draw the contents after a random number of draws: the counts of cells and of new colours, None if too many."""
    count = start.base.copy()
    count[start.colours] += _picked(stream.take(start.colours.size), tables, start.kind)
    if start.theta <= 0.0:
        return count if count[start.colours].sum() <= most else None
    table = tables.lengths.size - 2
    balls, (number,) = int(count[start.colours].sum()), _picked(stream.take(1), tables, [table])
    new = _picked(stream.take(int(number)), tables, np.full(int(number), table + 1))
    beyond = np.flatnonzero(balls + np.cumsum(new) > most)
    if beyond.size or balls > most:
        stream.back(new.size - 1 - int(beyond[0]) if beyond.size else 0)
        return None
    return np.concatenate([count, new])


def _settle(stream: Uniforms, owner: IntArray, count: IntArray, n: int, wanted: int, theta: float) -> IntArray:
    """Take out or add single balls until their number is the one wanted; return the counts."""
    balls = owner.size
    spend(abs(balls - wanted) // 4)
    numbers, number = stream.take(abs(balls - wanted)).tolist(), count.tolist()
    # Few of the balls are touched: changes are kept beside them.
    moved: dict[int, int] = {}
    if balls > wanted:
        for u in numbers:
            j = n + int(u * (balls - n))
            balls -= 1
            number[moved[j] if j in moved else owner.item(j)] -= 1
            moved[j] = moved[balls] if balls in moved else owner.item(balls)
        return np.array(number, np.int64)
    for at, u in enumerate(numbers, start=balls):
        u *= at + theta
        if u >= at:
            moved[at] = len(number)
            number.append(0)
        else:
            moved[at] = moved[int(u)] if int(u) >= balls else owner.item(int(u))
        number[moved[at]] += 1
    return np.array(number, np.int64)


def _cap(stream: Uniforms, count: IntArray, new: IntArray, start: Start, draws: int, cells: IntArray) -> None:
    """Keep as many new colours as there are cells, by the kernel: this is rare."""
    stream.stop()
    size, n = start.base.size, start.n
    owner = np.empty(n + draws, np.int32)
    owner[:n] = np.repeat(np.arange(size), start.base)
    room = np.concatenate([count[:size], new, np.zeros(1, np.int64)])
    samplers.cap(stream.words, owner, room, start.base, n, new.size, cells)
    count[:size] = room[:size]
    stream._set(stream.ahead, stream.words)
