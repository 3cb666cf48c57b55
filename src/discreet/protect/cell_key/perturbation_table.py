"""Perturbation tables: which noise a count gets, and how likely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.core.files import write_text
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Face, Result
from discreet.protect.cell_key.max_entropy import max_entropy, span, variance_range
from discreet.protect.checks import check_integer
from discreet.table.kinds import Kind, Noise, Perturbed

SUM = 1e-6
"""How far the probabilities of one count may be from 1 in a file, where they are printed to a few digits."""


@dataclass(frozen=True, repr=False)
class PTable(Result):
    """The noises that each count from 0 up can get, with their probabilities; larger counts are treated as the last.

    The noises of a count are in the order in which cell keys meet them: a key u between 0 and 1 gets the first noise
    whose probability, with those before it, is above u.

    >>> table = design_ptable(bound=2, variance=1)
    >>> table.probabilities(5).round(4).tolist()
    [0.0638, 0.2447, 0.383, 0.2447, 0.0638]
    """

    law: Noise
    name: str = ""
    asked: int = field(default=0, compare=False)
    """The largest noise that the table was designed for, where it was designed; ``bound`` may be smaller."""

    def __post_init__(self) -> None:
        if len(self.law) < 2:
            raise DataError("a perturbation table lists at least the counts 0 and 1")
        for count, row in enumerate(self.law):
            if not row:
                raise DataError(f"the perturbation table has no noise for the count {count}; list at least 0")
            total = float(np.sum([p for _, p in row]))
            if min(p for _, p in row) < 0 or abs(total - 1) > SUM:
                raise DataError(f"the probabilities of the count {count} add up to {total:.8g}; they must add up to 1")
            lowest = min(v for v, _ in row)
            if count + lowest < 0:
                raise DataError(f"the count {count} can become {count + lowest}; published counts are 0 or more")
            if len({v for v, _ in row}) != len(row):
                raise DataError(f"the count {count} lists a noise twice; list each once")
        if any(v != 0 and p > 0 for v, p in self.law[0]):
            raise DataError("the perturbation table changes empty cells; these have no records, and so no key")
        if not self.bound:
            raise DataError("the perturbation table changes nothing; give one with noise")

    @property
    def bound(self) -> int:
        """D, the largest noise."""
        return max(abs(v) for row in self.law for v, p in row if p > 0)

    @property
    def minimum(self) -> int:
        """The smallest count above 0 that can be published."""
        return min(count + v for count, row in enumerate(self.law) for v, p in row if p > 0 and count + v > 0)

    @property
    def kind(self) -> Kind:
        """What a reader who knows the table knows about the count behind a figure."""
        law = tuple(tuple((v, p) for v, p in row if p > 0) for row in self.law)
        return Perturbed(bound=self.bound, law=law)

    def probabilities(self, count: int) -> FloatArray:
        """Return the probabilities of the noises −D … D for a count."""
        p = np.zeros(2 * self.bound + 1)
        for v, chance in self.law[min(count, len(self.law) - 1)]:
            if chance > 0:
                p[v + self.bound] += chance
        return p

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of the noise of every count listed."""
        v = np.arange(-self.bound, self.bound + 1)
        p = np.stack([self.probabilities(count) for count in range(len(self.law))])
        mean = p @ v
        return mean, p @ v**2 - mean**2

    def thresholds(self, keys: int) -> tuple[IntArray, IntArray]:
        """Return, a row per count, the ends of the keys 0 … keys − 1 that get each noise, and the noises.

        The share of keys is the probability to within 1/keys; the last noise of a row takes what is left.
        """
        width = max(len(row) for row in self.law)
        ends, noise = np.full((len(self.law), width), keys), np.zeros((len(self.law), width), np.int64)
        for count, row in enumerate(self.law):
            below = np.cumsum([p for _, p in row])
            ends[count, : len(row)] = np.rint(np.minimum(below / below[-1], 1.0) * keys)
            noise[count] = [v for v, _ in row] + [row[-1][0]] * (width - len(row))
        return ends, noise

    def write(self, path: str | Path) -> None:
        """Write a file as the R package ptable and τ-ARGUS exchange them; all digits are kept."""
        lines = ["i;j;p;v;p_int_ub"]
        for count, row in enumerate(self.law):
            below = 0.0
            for place, (noise, chance) in enumerate(row):
                below = 1.0 if place == len(row) - 1 else below + chance
                lines.append(f"{count};{count + noise};{_number(chance)};{noise};{_number(below)}")
        write_text(path, "\n".join(lines) + "\n")

    def to_dict(self) -> dict[str, Json]:
        """Return the table as plain data."""
        mean, variance = self.moments()
        return {
            "bound": self.bound,
            "minimum": self.minimum,
            "rows": [
                {"count": i, "mean": float(mean[i]), "variance": float(variance[i]), "noise": [list(e) for e in row]}
                for i, row in enumerate(self.law)
            ],
        }

    def face(self, most: int) -> Face:
        """Return the probabilities of every noise, and the variances."""
        header = ["count", *(f"{v:+d}" if v else "0" for v in range(-self.bound, self.bound + 1)), "variance"]
        body = []
        for count, variance in enumerate(self.moments()[1]):
            more = "+" if count == len(self.law) - 1 else ""
            shown = [f"{p:.4f}" if p else "" for p in self.probabilities(count)]
            body.append([f"{count}{more}", *shown, f"{variance:.4g}"])
        named = f" {self.name}" if self.name else ""
        return Face(header, body, f"Perturbation table{named}: noise of at most {self.bound}")


def design_ptable(
    bound: int, variance: float, *, minimum: int = 1, stay: float = 0.0, monotone: bool = False
) -> PTable:
    """Design a perturbation table: for each count the noise of mean 0 and given variance with the largest entropy.

    For the count i, −Σ p(v) log p(v) is largest subject to Σ p(v) = 1, Σ p(v)·v = 0, Σ p(v)·v² = V, over |v| ≤ D with
    i + v = 0 or i + v ≥ the least count that is published. Giessing (2016) and the R package ptable (Enderle) design
    tables in this way. Knowing the table says no more about a noise than these moments.

    Args:
        bound: D, the largest noise; published counts are at most this far from the true ones.
        variance: V, the same for every count above 0; more hides more.
        minimum: the least count above 0 that is published; below it only 0 is.
        stay: the least probability that a count stays unchanged, if it may.
        monotone: a larger noise to the same side is never more likely than a smaller one.

    Raises:
        InfeasibleError: when some count cannot have this variance; the message says which, why, and what is possible.

    >>> table = design_ptable(bound=5, variance=3, minimum=3, stay=0.5, monotone=True)
    >>> [(v, round(p, 6)) for v, p in table.law[1]]
    [(-1, 0.73447), (2, 0.13672), (3, 0.072796), (4, 0.03743), (5, 0.018584)]
    """
    _check(bound, variance, minimum, stay)
    # From the last count on no noise leads to a count that may not be published.
    last = bound if minimum == 1 else bound + minimum
    noises = {
        i: np.array([n for n in range(-bound, bound + 1) if i + n == 0 or i + n >= minimum]) for i in range(1, last + 1)
    }
    law: list[tuple[tuple[int, float], ...]] = [((0, 1.0),)]
    for count, v in noises.items():
        try:
            p = max_entropy(v, variance, stay=stay, monotone=monotone)
        except InfeasibleError as error:
            asked = f"bound {bound}, variance {variance:g} and minimum {minimum}"
            asked += f", stay {stay:g}" * bool(stay) + ", monotone" * monotone
            possible = _possible(noises, stay, monotone)
            raise InfeasibleError(
                f"no perturbation table has {asked}: the count {count} can get the noises {_listed(v)} only, and "
                f"{error}; {possible}"
            ) from None
        law.append(tuple((int(n), float(chance)) for n, chance in zip(v, p, strict=True) if chance > 0))
    return PTable(tuple(law), f"D={bound}, V={variance:g}", int(bound))


def _listed(v: IntArray) -> str:
    """Return noises as a phrase, runs of them by their ends."""
    runs = np.split(v, np.flatnonzero(np.diff(v) > 1) + 1)
    return ", ".join(f"{run[0]:+d}" if run.size == 1 else f"{run[0]:+d} … {run[-1]:+d}" for run in runs if run.size)


def _possible(noises: Mapping[int, IntArray], stay: float, monotone: bool) -> str:
    """Say which variances all counts can have."""
    try:
        ranges = [variance_range(v, stay=stay, monotone=monotone) for v in noises.values()]
    except InfeasibleError:
        return "raise the bound, or lower the minimum"
    least, most = max(low for low, _ in ranges), min(high for _, high in ranges)
    if least > most:
        return f"no variance fits all counts (one needs {least:.6g}, another {abs(most):.6g} at most); raise the bound"
    return f"all counts together allow a variance {span(least, most)}"


def _number(value: float) -> str:
    return repr(value) if value != int(value) else str(int(value))


def _check(bound: int, variance: float, minimum: int, stay: float) -> None:
    check_integer(bound, "bound")
    check_integer(minimum, "minimum")
    if bound > 500:
        raise RequestError(f"bound is {bound}; noise beyond 500 needs no table")
    if not 0 < variance <= 1e9:
        raise RequestError(f"the variance is {variance!r}; give a number above 0, at most 10⁹")
    if not 0 <= stay < 1:
        raise RequestError(f"stay is {stay!r}; the probability that a count stays lies between 0 and 1")
