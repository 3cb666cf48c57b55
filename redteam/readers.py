"""Readers: what each of them cannot rule out, enumerated.

Every reader knows the published figures, that they add up, that counts are not negative, and how figures were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import prod
from typing import Any

from redteam import laws
from redteam.enumeration import Belief, Limit, TooManyError, enumerated, together
from redteam.methods import RANDOM, Method
from redteam.notebook import Notebook
from redteam.originals import Firms
from redteam.policies import policy_of
from redteam.published import Published
from redteam.worlds import Cells, Counts, World

OUTSIDER, METHOD, COUNTED = "outsider", "knows the method", "is counted"
CHOICE, STEPS = "knows the choice", "solves all steps together"
RESPONDENT, COALITION, HOLDER = "respondent", "coalition", "holder of earlier releases"
SAMPLE_CAP = 80
"""How many people beyond those in the sample a cell is followed."""


def outsider(known: Published, world: World, also: Sequence[Limit] = ()) -> Belief:
    """Return what figures, kinds and sums leave."""
    return enumerated(len(world.leaves), [*limits(known), *also])


def limits(known: Published) -> list[Limit]:
    """Return what every figure says of its sum by itself."""
    up_to = hides_up_to(known)
    return [*(laws.limit_of(figure, up_to) for figure in known.figures), *_people_sampled(known)]


def _people_sampled(known: Published) -> list[Limit]:
    """Return what every figure of a simple random sample can be, by the size of the sample and its share."""
    share = dict(known.parameters).get("fraction")
    if known.method != "random-sample" or share is None or any(figure.said("size", 0) for figure in known.figures):
        return []
    most = max(_populations(known, float(share))) - _size(known)
    return [
        Limit(figure.cells, figure.value, figure.value + most) for figure in known.figures if figure.value is not None
    ]


def _populations(known: Published, share: float) -> list[int]:
    """Return how many people there can be if this share of them, rounded, is in the sample."""
    n = _size(known)
    return [N for N in range(n, 40 * n + 8) if max(int(share * N + 0.5), 1) == n]


def _size(known: Published) -> int:
    """Return how many people are in a sample."""
    return sum(figure.value or 0 for figure in known.figures if len(figure.cells) == 1)


def hides_up_to(known: Published) -> int | None:
    """Return the largest count that a release hides everywhere, where its method says so."""
    return int(dict(known.parameters)["limit"]) if known.method == "hide-and-round" else None


def insider(known: Published, firms: Firms, *members: str) -> Belief:
    """Return what is left to a firm, or to several, who know what they put in everywhere, and where nobody else is.

    That they see by published cells, and not by crossings that nobody publishes.
    """
    own = firms.own(*members)
    mine = [Limit((cell,), value) for cell, value in own.items()]
    for cells in {figure.cells for figure in known.figures}:
        put = sum(value for cell, value in own.items() if cell in cells)
        if put and not firms.others(cells, *members):
            mine.append(Limit(cells, put, put))
    return outsider(known, firms.world, mine)


def by_figure(known: Published, world: World) -> Belief:
    """Return what is left to a reader who knows a method that makes every figure by itself."""
    return enumerated(len(world.leaves), limits(known), laws.by_figure(known, hides_up_to(known)))


def knows_method(known: Published, world: World, method: Method, notebook: Notebook) -> tuple[Belief, float]:
    """Return what is left to a reader who knows the method, and by how many bits its entropy may be wrong.

    Raises:
        TooManyError: if there are too many originals, or the law of the method is not stated.
    """
    size = len(world.leaves)
    name = method.name
    margins = any(len(figure.cells) > 1 and figure.name != "added" for figure in known.figures)
    if name in ("random-rounding", "conventional-rounding", "hide-and-round", "simulation", "redesign") or (
        name == "cell-key" and not margins
    ):
        return by_figure(known, world), 0.0
    if name == "bernoulli-sample" and not method.given.get("known_total"):
        return enumerated(size, limits(known), laws.by_figure(known), SAMPLE_CAP), 1e-4
    if name == "cell-key" and len(world.shape) == 1 and not world.groups:
        return _weighed(known, world, laws.keyed_total(known, size)), 0.01
    if name == "controlled-rounding" and method.random and len(world.shape) == 1 and not world.groups:
        return _weighed(known, world, laws.lottery(known, method.given["base"], size)), 0.0
    if name == "semi-controlled-rounding":
        levels = _levels(world, method.given.get("totals", ()))
        return _weighed(known, world, laws.semi_controlled(known, method.given["base"], levels)), 0.0
    if name == "random-sample":
        return _sampled(known, world, method), 0.0
    if name in ("controlled-rounding", "small-count-rounding", "suppress") and not method.random:
        tables = _closed(outsider(known, world), size)
        made = notebook.made(method, world, tables)
        return together(size, [(counts, 1) for counts in tables if made[counts] == known]), 0.0
    if name in ("controlled-rounding", "table-swapping", "record-swapping"):
        tables = _closed(outsider(known, world), size)
        # Half a draw is added: what chance alone never drew is not ruled out.
        drawn = notebook.drawn(method, world, tables)
        return together(size, [(counts, drawn[counts][known] + 0.5) for counts in tables]), 0.25
    raise TooManyError


def knows_choice(
    known: Published, world: World, policy: str, belief: Belief, notebook: Notebook, release: Any
) -> Belief:
    """Return what is left to a reader who knows how the release came to be published.

    Ruled out are originals that the policy would have published as they are, those of which it would not have let this
    release pass, and, where it lists other protections before this one, those that another would have published.
    """
    tables = _tables(belief, world)
    every = [counts for counts, _ in tables]
    rules = policy_of(policy)
    if rules.as_is == "if safe":
        free = notebook.as_they_are(policy, world, every)
        every = [counts for counts in every if not free[counts]]
    fits = notebook.passing(policy, world, every, release)
    every = [counts for counts in every if fits[counts]]
    before = list(takewhile(lambda one: _later(one, known), rules.protections))
    # A few draws cannot show that a protection which is drawn never fails: such a one rules nothing out.
    if before and not any(one.name in RANDOM for one in before):
        other = notebook.otherwise(policy, world, every, known)
        every = [counts for counts in every if not other[counts]]
    weights = dict(tables)
    return together(len(world.leaves), [(counts, weights[counts]) for counts in every])


def _later(first: Any, known: Published) -> bool:
    """Say whether a release was not made by this protection of a policy."""
    said = dict(known.parameters)
    differs = any(said.get(name, repr(value)) != repr(value) for name, value in first.parameters.items())
    return differs or str(first.name) != known.method


def _tables(belief: Belief, world: World) -> list[tuple[Counts, float]]:
    """Return all originals of a belief with their weights."""
    return [(counts, _weight(belief, counts)) for counts in _closed(belief, len(world.leaves))]


def _weight(belief: Belief, counts: Counts) -> float:
    """Return the weight of an original: the product over the parts that are independent."""
    return prod(dict(part.tables)[tuple(counts[c] for c in part.cells)] for part in belief.parts)


def _closed(belief: Belief, size: int) -> list[Counts]:
    """Return all originals of a belief, or refuse where there is no end to them."""
    if belief.open:
        raise TooManyError
    return list(belief.tables(size))


def _weighed(known: Published, world: World, weight: Callable[[Counts], float]) -> Belief:
    size = len(world.leaves)
    return together(size, [(counts, weight(counts)) for counts in _closed(outsider(known, world), size)])


def _sampled(known: Published, world: World, method: Method) -> Belief:
    """Return the originals from which a simple random sample of this size is drawn."""
    size = len(world.leaves)
    totals = [int(figure.said("size", 0)) for figure in known.figures if figure.said("size", 0)]
    totals = totals or _populations(known, method.given["fraction"])
    belief = outsider(known, world, [Limit(tuple(range(size)), min(totals), max(totals))])
    weight = laws.hypergeometric(known)
    return together(size, [(counts, weight(counts)) for counts in belief.tables(size)])


def _levels(world: World, totals: Sequence[str]) -> list[list[Cells]]:
    """Return the sums that semi-controlled rounding keeps, from the total down to the cells."""
    whole = tuple(range(len(world.leaves)))
    levels: list[list[Cells]] = [[whole]]
    for k in range(1, len(totals) + 1):
        chosen = totals[:k]
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, leaf in enumerate(world.leaves):
            groups.setdefault(tuple(leaf[world.names.index(name)] for name in chosen), []).append(i)
        levels.append([tuple(group) for group in groups.values()])
    cells: list[Cells] = [(i,) for i in whole]
    return levels if levels[-1] == cells else [*levels, cells]
