"""The replay of antal2015 Table 2 against a clean NumPy version on one thread."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from _tools import best, growing, in_turn, machine
from discreet import datasets
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.random import generator, spawn
from discreet.models import LogLinear, PolyaUrn
from discreet.models.population import Population
from discreet.protect import RandomSample
from discreet.studies.antal2015 import Setting, lookup_values, replay
from discreet.studies.comparison import StudyEffort

RELIGION = datasets.religion()
N, K = RELIGION.total, RELIGION.possible
W = (0.1, 0.8, 0.1)
DRAWS, SAMPLES = 1000, 40


# --- the obvious alternative: batched NumPy, with a logarithm per figure ------------------------------------


def xlogx(x: FloatArray) -> FloatArray:
    return x * np.log(np.where(x > 0, x, 1.0))


def numpy_r2(F: IntArray, f: IntArray) -> FloatArray:
    """R2 (form 2015) of population tables F against the sample f."""
    n = f.sum()
    p, q = F / N, f / n
    H = -xlogx(p).sum(axis=1)
    m = np.minimum(p, q)
    R = (p - m).sum(axis=1, keepdims=True)
    safe = np.where(q > 0, q, 1.0)
    left = -(
        (m * np.log(np.where(m > 0, m, safe) / safe)).sum(axis=1)
        + (xlogx(p - m) - (p - m) * np.log(np.where(R > 0, R, 1.0))).sum(axis=1)
        + ((q - m) * np.log(np.where(q > m, q - m, safe) / safe)).sum(axis=1)
    )
    D, E = (F == 0).sum(axis=1), (f == 0).sum()
    zeros = np.where(D > 0, (D / K) ** (E / np.maximum(D, 1)), 0.0)
    concentration = (1 - H / np.log(K)) * (1 - left / H)
    result: FloatArray = W[0] * zeros + W[1] * concentration + W[2] * (1 + 0.5 * np.log(N)) / np.sqrt(N)
    return result


def numpy_loglinear(f: IntArray, p: FloatArray, draws: int, rng: np.random.Generator) -> float:
    F = f + rng.multinomial(N - f.sum(), p, size=draws)
    return float(numpy_r2(F, f).mean())


def numpy_urn(f: IntArray, theta: float, draws: int, rng: np.random.Generator) -> float:
    """The urn ball by ball, all draws of a sample side by side; new colours take the next empty cell."""
    n = int(f.sum())
    balls = np.empty((draws, N), np.int64)
    balls[:, :n] = np.repeat(np.arange(f.size), f)
    empty = np.flatnonzero(f == 0)
    fresh = np.zeros(draws, np.int64)
    rows = np.arange(draws)
    for z in range(N - n):
        drawn = (rng.random(draws) * (n + z + theta)).astype(np.int64)
        black = (drawn >= n + z) & (fresh < empty.size)
        colour = balls[rows, np.where(drawn < n + z, drawn, drawn % (n + z))]
        colour[black] = empty[fresh[black]]
        fresh += black
        balls[:, n + z] = colour
    F = np.bincount((balls + f.size * rows[:, None]).ravel(), minlength=draws * f.size).reshape(draws, f.size)
    return float(numpy_r2(F, f).mean())


# --- both sides on the same samples -------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One column of the replay: a model and the samples that it is fitted to."""

    name: str
    fraction: float
    model: LogLinear | PolyaUrn
    setting: Setting
    samples: IntArray
    fitted: list[Population]

    def numpy(self, few: int) -> None:
        rng = np.random.default_rng(1)
        for f, fit in zip(self.samples[:few], self.fitted, strict=False):
            if fit.probabilities is not None:
                numpy_loglinear(f, fit.probabilities, DRAWS, rng)
            else:
                assert fit.theta is not None
                numpy_urn(f, fit.theta, DRAWS, rng)

    def ours(self, workers: int) -> None:
        def one(item: tuple[IntArray, np.random.Generator]) -> float:
            f, rng = item
            return self.setting.mean_risk(f, self.model.population(self.setting.sample(f), N), rng, DRAWS)

        run(one, zip(self.samples, spawn(1, SAMPLES), strict=True), workers=workers)

    def drawing(self) -> None:
        for fit, rng in zip(self.fitted, spawn(1, SAMPLES), strict=True):
            fit.draw(rng, DRAWS)

    def judging(self) -> None:
        for f, fit, rng in zip(self.samples, self.fitted, spawn(1, SAMPLES), strict=True):
            self.setting.mean_risk(f, fit, rng, DRAWS)

    def numpy_drawing(self) -> None:
        rng = np.random.default_rng(1)
        for fit in self.fitted:
            if fit.probabilities is not None:
                rng.multinomial(fit.unseen, fit.probabilities, size=DRAWS)


def cases() -> Iterator[Case]:
    for fraction in (0.1, 0.05):
        setting = Setting(RELIGION, lookup_values(RELIGION, fraction))
        f = np.zeros((SAMPLES, RELIGION.size), np.int64)
        f[:, RELIGION.cells] = RandomSample(setting.n).draws(RELIGION, generator(1), SAMPLES)
        models: tuple[tuple[str, LogLinear | PolyaUrn], ...] = (("log-linear", LogLinear()), ("Pólya urn", PolyaUrn()))
        for name, model in models:
            yield Case(name, fraction, model, setting, f, [model.population(setting.sample(row), N) for row in f])


def against_numpy(drawn: list[list[str]]) -> Iterator[list[str]]:
    """Yield how fast population tables are judged, and keep what this takes beside drawing alone."""
    for case in cases():
        few = 10 if case.name == "log-linear" else 2
        case.ours(2)
        works = [partial(case.numpy, few), partial(case.ours, 1), partial(case.ours, 2)]
        slow, one, two, alone, both, numpy_alone = in_turn([*works, case.drawing, case.judging, case.numpy_drawing], 3)
        base = few * DRAWS / slow
        rates = [SAMPLES * DRAWS / seconds for seconds in (one, two)]
        column = f"{case.name}, fraction {case.fraction}"
        ratios = [f"**{rate / base:.1f}**" for rate in rates]
        against = f"{one / numpy_alone:.2f}" if case.name == "log-linear" else "–"
        drawn.append([column, f"{SAMPLES * DRAWS / alone:,.0f}", f"{both / alone:.2f}", f"{one / alone:.2f}", against])
        yield [column, f"{base:,.0f}", f"{rates[0]:,.0f}", ratios[0], f"{rates[1]:,.0f}", ratios[1]]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    yield "## Replay of antal2015 Table 2\n"
    yield machine("numpy", "numba") + "\n"
    yield (
        "Population tables judged a second, including the set-up of every sample. The alternative is batched NumPy "
        "on one thread: `multinomial` and logarithms per draw; for the urn, ball by ball for all draws of a sample "
        "at once.\n"
    )
    drawn: list[list[str]] = []
    head = ["column", "NumPy", "discreet, 1 thread", "ratio", "discreet, 2 threads", "ratio"]
    yield from growing(head, against_numpy(drawn))
    yield (
        "Compared with drawing the tables alone, on one thread. *Judged*: drawing and R2 over drawing; *all*: also "
        "fitting the model to each sample. The last column compares all of it with `Generator.multinomial` alone.\n"
    )
    yield from growing(["column", "tables drawn a second", "judged", "all", "all, against NumPy's drawing"], drawn)
    yield (
        "Time against draws, for one sample (Pólya urn, fraction 0.1); the last column is constant if time is "
        "linear in draws.\n"
    )
    yield from growing(["draws", "milliseconds", "microseconds a draw"], linearity())
    start = time.perf_counter()
    study = replay(StudyEffort(seed=1))
    seconds = time.perf_counter() - start
    yield (
        f"The whole replay, 8 columns × 1,000 samples × 1,000 draws, took **{seconds:.1f} s** on 2 threads: "
        f"{8e6 / seconds:,.0f} tables a second. {study.sentence}"
    )


def linearity() -> Iterator[list[str]]:
    """Yield what more and more draws of one sample take."""
    setting = Setting(RELIGION, lookup_values(RELIGION, 0.1))
    row = np.zeros(RELIGION.size, np.int64)
    row[RELIGION.cells] = RandomSample(setting.n).draws(RELIGION, generator(1), 1)[0]
    fit = PolyaUrn().population(setting.sample(row), N)
    for draws in (1000, 4000, 16_000, 64_000):
        seconds = best(partial(setting.mean_risk, row, fit, generator(1), draws))
        yield [f"{draws:,}", f"{1e3 * seconds:.1f}", f"{1e6 * seconds / draws:.2f}"]


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
