"""The red team's own laws and enumerations, against draws and plain products."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from redteam.enumeration import Limit, enumerated
from redteam.methods import Method
from redteam.notebook import Notebook
from redteam.originals import Firms
from redteam.published import Published, published
from redteam.worlds import Counts, World

import discreet as dc
from redteam import laws, readers


def test_enumeration_is_that_of_a_plain_product() -> None:
    random = Random(3)
    for _ in range(30):
        size = random.choice((2, 3, 4))
        limits = [Limit((cell,), random.randint(0, 2), random.randint(2, 4)) for cell in range(size)]
        for _ in range(random.randint(0, 3)):
            cells = tuple(sorted(random.sample(range(size), random.randint(2, size))))
            low = random.randint(0, 6)
            limits.append(Limit(cells, low, low + random.randint(0, 4), lambda x: x % 3 != 1))
        found = sorted(enumerated(size, limits).tables(size))
        plain = [t for t in product(range(5), repeat=size) if all(x.holds(sum(t[c] for c in x.cells)) for x in limits)]
        assert found == plain


@pytest.mark.parametrize(
    ("method", "world", "counts"),
    [
        (Method("random-rounding", (("base", 3), ("margins", True))), World.of(2), (1, 2)),
        (Method("controlled-rounding", (("base", 5), ("unbiased", True))), World.of(3), (1, 2, 4)),
        (Method("controlled-rounding", (("base", 3), ("unbiased", True))), World.of(4), (1, 2, 1, 1)),
        (Method("semi-controlled-rounding", (("base", 3),)), World.of(3), (1, 2, 2)),
        (Method("semi-controlled-rounding", (("base", 3), ("totals", ("a",)))), World.of(2, 2), (1, 2, 2, 0)),
        (Method("cell-key", (("bound", 2), ("variance", 1), ("margins", True))), World.of(2), (2, 1)),
        (Method("random-sample", (("fraction", 0.5),)), World.of(3), (1, 2, 3)),
        (Method("bernoulli-sample", (("rate", 0.5),)), World.of(2), (1, 2)),
    ],
    ids=lambda value: value.title if isinstance(value, Method) else "",
)
def test_laws_are_those_of_the_draws(method: Method, world: World, counts: Counts) -> None:
    """The weights of one original, over all releases drawn of it, are in proportion to how often each is drawn."""
    draws = 500
    made = Counter(published(method.apply(world.build(counts), seed), world) for seed in range(draws))
    weights = {known: _weight(method, world, known, counts) for known in made}
    whole = sum(weights.values())
    for known, often in made.items():
        share = weights[known] / whole
        assert abs(often / draws - share) < 4.5 * (share * (1 - share) / draws) ** 0.5 + 0.003


def _weight(method: Method, world: World, known: Published, counts: Counts) -> float:
    """Return the weight of an original, in a scale that all releases share."""
    size = len(world.leaves)
    if method.name in ("random-rounding", "bernoulli-sample"):
        return laws.by_figure(known)(tuple(range(size)))(counts)
    if method.name == "random-sample":
        return laws.hypergeometric(known)(counts)
    belief, _ = readers.knows_method(known, world, method, Notebook())
    return dict(belief.parts[0].tables)[counts]


def test_zeros_that_are_always_shown_give_ones_away() -> None:
    """Three hidden cells share a total of 3, and none of them is 0."""
    world = World.of(5)
    figures = dc.Figures.from_array([13, None, None, None, 10, 0], {"a": ["Total", *world.dimensions[0][1]]})
    known = published(dc.Release.of(figures), world, least=1)
    belief = readers.outsider(known, world)
    assert [belief.ends((cell,)) for cell in range(3)] == [(1, 1)] * 3
    free = readers.outsider(published(dc.Release.of(figures), world, least=0), world)
    assert free.ends((0,)) == (0, 3)


def test_what_is_not_hidden_is_above_what_is() -> None:
    """4, 4, 4, 4 and 1: a printed 5 is no 3, a mark is 1 to 3, and the total is at most 17."""
    world = World.of(5)
    known = published(dc.protect.hide_and_round(world.build((4, 4, 4, 4, 1)), limit=3, base=5), world)
    belief = readers.outsider(known, world)
    assert [belief.ends((cell,)) for cell in range(5)] == [(4, 4)] * 4 + [(1, 1)]


def test_a_firm_in_several_cells_is_one_reader() -> None:
    """F put 10 and 20 into cells where it is alone; the total of 60 leaves 30."""
    world = World.of(3)
    figures = dc.Figures.from_array([60, None, None, None], {"a": ["Total", "a1", "a2", "a3"]})
    known = published(dc.Release.of(figures), world, least=1)
    belief = readers.insider(known, Firms(world, ((0, "F", 10), (1, "F", 20), (2, "G", 30))), "F")
    assert belief.ends((2,)) == (30, 30)


def test_a_method_without_chance_is_run_again() -> None:
    """Nearest rounding to base 3 takes 2 up, so that a printed 0 is 0 or 1 where nothing else is rounded."""
    world, method = World.of(2), Method("controlled-rounding", (("base", 3),))
    known = published(method.apply(world.build((1, 9))), world)
    assert readers.outsider(known, world).ends((0,)) == (0, 2)
    belief, _ = readers.knows_method(known, world, method, Notebook())
    assert belief.ends((0,)) == (0, 1)
