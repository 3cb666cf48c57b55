"""Readers: what each of them cannot rule out, enumerated.

Every reader knows the published figures, that they add up, that counts are not negative, and how figures were made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from redteam import laws
from redteam.beliefs import Belief, Limit, TooManyError, enumerated, together
from redteam.methods import Method
from redteam.notebook import Notebook
from redteam.published import Published
from redteam.worlds import Cells, Counts, World

OUTSIDER, METHOD = "outsider", "knows the method"
CHOICE, RERUN = "knows that it was protected", "reruns the assessment"
RESPONDENT, COALITION, HOLDER = "respondent", "coalition", "holder of earlier releases"
SEEDS = 12
"""How often a choice that depends on chance is made again."""
SAMPLE_CAP = 80
"""How many people beyond those in the sample a cell is followed."""


def outsider(known: Published, world: World, also: Sequence[Limit] = ()) -> Belief:
    """Return what figures, kinds and sums leave."""
    up_to = hides_up_to(known)
    limits = [*(laws.limit_of(figure, up_to) for figure in known.figures), *also]
    return enumerated(len(world.leaves), limits)


def hides_up_to(known: Published) -> int | None:
    """Return the largest count that a release hides everywhere, where its method says so."""
    return int(dict(known.parameters)["limit"]) if known.method == "hide-and-round" else None


def insider(known: Published, world: World, own: Mapping[int, int], alone: Sequence[int]) -> Belief:
    """Return what is left to somebody who knows what they put into every cell, and where nobody else is.

    Args:
        known: what is published.
        world: the cells.
        own: for cells the own contribution to each.
        alone: the cells in which there is nobody else.
    """
    mine = [Limit((cell,), value, value if cell in alone else None) for cell, value in own.items()]
    return outsider(known, world, mine)


def knows_method(known: Published, world: World, method: Method, notebook: Notebook) -> tuple[Belief, float]:
    """Return what is left to a reader who knows the method, and by how many bits its entropy may be wrong.

    Raises:
        TooManyError: if there are too many originals, or the law of the method is not stated.
    """
    size = len(world.leaves)
    name = method.name
    limits = [laws.limit_of(figure, hides_up_to(known)) for figure in known.figures]
    margins = any(len(figure.cells) > 1 and figure.name != "added" for figure in known.figures)
    if name in ("random-rounding", "conventional-rounding", "hide-and-round", "simulation", "redesign") or (
        name == "cell-key" and not margins
    ):
        return enumerated(size, limits, laws.by_figure(known, hides_up_to(known))), 0.0
    if name == "bernoulli-sample" and not method.given.get("known_total"):
        return enumerated(size, limits, laws.by_figure(known), SAMPLE_CAP), 1e-4
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
        # Half a draw is added, so that what was drawn never by chance alone is not ruled out.
        drawn = notebook.drawn(method, world, tables)
        return together(size, [(counts, drawn[counts][known] + 0.5) for counts in tables]), 0.25
    raise TooManyError


def knows_choice(known: Published, world: World, policy: str, belief: Belief, notebook: Notebook) -> Belief:
    """Return what is left to a reader who knows that the table was protected.

    Originals that the policy would have published as they are, are ruled out.
    """
    tables = _tables(belief, world)
    free = notebook.as_they_are(policy, world, [counts for counts, _ in tables])
    return together(len(world.leaves), [(counts, weight) for counts, weight in tables if not free[counts]])


def reruns(known: Published, world: World, policy: str, belief: Belief, notebook: Notebook) -> tuple[Belief, float]:
    """Return what is left to a reader who runs the assessment again on every original that the method leaves.

    It is run with two seeds. Where the choice is always the same, it rules originals in or out; where it is not, the
    reader counts how often the very release comes out. The second value is by how many bits that may be wrong.
    """
    size = len(world.leaves)
    tables = _tables(belief, world)
    every = [counts for counts, _ in tables]
    made = notebook.chosen(policy, world, every, 2)
    how = (known.method, known.parameters)
    if all(len(_methods(found)) == 1 for found in made.values()):
        return together(size, [(counts, weight) for counts, weight in tables if how in _methods(made[counts])]), 0.0
    made = Notebook().chosen(policy, world, every, SEEDS)
    # A quarter of a run is added, so that what was drawn never by chance alone is not ruled out.
    return together(size, [(c, made[c][known] + 0.25) for c in every if how in _methods(made[c])]), 0.15


def _tables(belief: Belief, world: World) -> list[tuple[Counts, float]]:
    """Return all originals of a belief with their weights."""
    return [(counts, _weight(belief, counts)) for counts in _closed(belief, len(world.leaves))]


def _methods(found: Mapping[Published | None, int]) -> set[tuple[str, tuple[tuple[str, str], ...]] | None]:
    """Return the methods that an assessment took."""
    return {None if one is None else (one.method, one.parameters) for one in found}


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
    n = sum(figure.value or 0 for figure in known.figures if len(figure.cells) == 1)
    share = method.given["fraction"]
    stated = {int(figure.said("size", 0)) for figure in known.figures} - {0}
    totals = [N for N in range(n, 4 * n + 8) if max(int(share * N + 0.5), 1) == n]
    whole = tuple(range(size))
    high, low = max(stated or totals), min(stated or totals)
    limits = [*(laws.limit_of(figure) for figure in known.figures), Limit(whole, low, high)]
    belief = enumerated(size, limits)
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
