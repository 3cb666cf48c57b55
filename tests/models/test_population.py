"""What every drawn population obeys, whatever the model."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.laws import fit

from discreet.core.errors import LimitError, RequestError
from discreet.core.random import generator, spawn
from discreet.models import LogLinear, PolyaUrn, Population
from discreet.table import Table

SAMPLE = Table.from_array([[5, 0, 1], [3, 2, 0]], ["area", "religion"])


@st.composite
def samples(draw: st.DrawFn) -> Table:
    shape = draw(st.sampled_from([(4,), (2, 3), (3, 3), (2, 2, 3)]))
    size = int(np.prod(shape))
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 2, 5, 40]), min_size=size, max_size=size))
    counts[draw(st.integers(0, size - 1))] += 1
    lost = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    impossible = np.array([count == 0 and never for count, never in zip(counts, lost, strict=True)])
    names = ["a", "b", "c"][: len(shape)]
    return Table.from_array(np.array(counts).reshape(shape), names, impossible=impossible.reshape(shape))


@settings(max_examples=150, deadline=None)
@given(
    sample=samples(),
    unseen=st.sampled_from([0, 1, 3, 50, 2000, 10**6, 10**9]),
    theta=st.sampled_from([None, 0.0, 1e-3, 0.7, 5.0, 200.0]),
    size=st.integers(0, 4),
    seed=st.integers(0, 2**32),
)
def test_every_population_holds_the_sample_and_everybody(
    sample: Table, unseen: int, theta: float | None, size: int, seed: int
) -> None:
    total = sample.total + unseen
    if theta is None:
        population = LogLinear().population(sample, total)
    else:
        population = PolyaUrn(theta=theta).population(sample, total)
    rows = population.draw(seed, size)
    assert rows.shape == (size, sample.size)
    assert rows.dtype == np.int64
    assert (rows.sum(axis=1) == total).all()
    assert (rows >= sample.to_array().ravel()).all()
    assert not rows[:, sample.impossible].any()
    assert population.draw(seed, size).tobytes() == rows.tobytes()


@pytest.mark.parametrize("population", [LogLinear().population(SAMPLE, 500), PolyaUrn().population(SAMPLE, 500)])
def test_draws_depend_on_the_seed_and_on_nothing_else(population: Population) -> None:
    alone = [population.draw(stream, 200).tobytes() for stream in spawn(1, 4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda stream: population.draw(stream, 200).tobytes(), spawn(1, 4)))
    assert together == alone
    assert len(set(alone)) == 4


def test_a_generator_moves_on() -> None:
    population = PolyaUrn(theta=1.0).population(SAMPLE, 500)
    source = generator(1)
    assert population.draw(source, 5).tolist() != population.draw(source, 5).tolist()
    assert (
        population.draw(np.random.default_rng(1), 5).tolist() == population.draw(np.random.default_rng(1), 5).tolist()
    )


def test_small_and_large_populations_follow_one_law() -> None:
    """The same shares on both sides of the boundary between look-up tables and NumPy."""
    sample = Table.from_array([5, 3, 2, 1, *([0] * 80)], ["place"])
    p = np.append(np.array([5, 3, 2, 1]) / 12, np.full(80, 1 / 960))
    for unseen in (10**4, 10**8):
        rows = Population(sample, 11 + unseen, probabilities=p).draw(3, 2000)
        # All rows together are one multinomial draw.
        assert fit((rows - sample.to_array()).sum(axis=0).tolist(), p.tolist()) > 1e-3
        # Variances of shares are those of the Dirichlet law, as the cap of 80 new colours is out of reach.
        urns = Population(sample, 11 + unseen, theta=2.0).draw(3, 2000)
        grown = (urns - sample.to_array())[:, :4].mean(axis=0) / unseen
        expected = np.array([5, 3, 2, 1]) / 13
        assert (np.abs(grown - expected) < 4 * np.sqrt(expected * (1 - expected) / 14 / 2000)).all()


def test_the_probabilities_cannot_be_changed() -> None:
    given_ones = np.full(6, 1 / 6)
    population = Population(SAMPLE, 20, probabilities=given_ones)
    given_ones[0] = 5
    assert population.probabilities is not None
    assert population.probabilities[0] == pytest.approx(1 / 6)
    with pytest.raises(ValueError, match="read-only"):
        population.probabilities[0] = 1


def test_wrong_figures() -> None:
    with pytest.raises(RequestError, match="population has 10 people, but the sample 11"):
        LogLinear().population(SAMPLE, 10)
    with pytest.raises(RequestError, match="give an integer"):
        LogLinear().population(SAMPLE, 100.5)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="one of the two"):
        Population(SAMPLE, 100)
    with pytest.raises(RequestError, match="one of the two"):
        Population(SAMPLE, 100, probabilities=np.full(6, 1 / 6), theta=1.0)
    with pytest.raises(RequestError, match="finite number of black balls"):
        Population(SAMPLE, 100, theta=-1.0)
    with pytest.raises(RequestError, match="size is -1"):
        Population(SAMPLE, 100, theta=1.0).draw(1, -1)
    with pytest.raises(LimitError, match="draw at most"):
        Population(SAMPLE, 100, theta=1.0).draw(1, 10**9)


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.5, 0.5], "2 probabilities for 6 cells"),
        ([0.5, 0.6, -0.1, 0, 0, 0], "cell area=1, religion=3 has probability -0.1"),
        ([0.5, 0.6, 0.1, 0, 0, 0], "add up to 1.2"),
        ([0.5, float("nan"), 0.1, 0, 0, 0], "probability nan"),
    ],
)
def test_wrong_probabilities(probabilities: list[float], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        LogLinear().population(SAMPLE, 100, probabilities=np.array(probabilities))


def test_a_structural_zero_with_a_probability() -> None:
    sample = Table.from_array([3, 1, 0], ["month"], impossible=[False, False, True])
    with pytest.raises(RequestError, match=r"month=3 has probability 0\.2; a structural zero must"):
        Population(sample, 100, probabilities=np.array([0.4, 0.4, 0.2]))


def test_models_load_without_the_compiler_and_without_scipy() -> None:
    """Both cost most of a second; only drawing needs the first, and nothing here the second."""
    code = (
        "import sys; sys.modules['numba'] = None; import discreet.models as m; "
        "from discreet.table import Table; t = Table.from_array([[5, 0], [3, 2]], ['a', 'b']); "
        "m.PolyaUrn().population(t, 100); print('scipy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
