"""The protections under attack, by the names of discreet's registry, and how each is called by the front door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import discreet as dc
from redteam.policies import policy_of
from redteam.worlds import World


@dataclass(frozen=True)
class Method:
    """A protection with its parameters. ``needs`` says which originals it takes.

    ``"any"`` counts, ``"flat"`` ones without hierarchies, ``"crossed"`` ones of two dimensions, ``"single"`` ones of
    one dimension, or ``"magnitudes"``. Where a ``policy`` says what is sensitive, an assessment applies the method.
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()
    needs: str = "any"
    policy: str = ""

    @property
    def given(self) -> dict[str, Any]:
        """The parameters."""
        return dict(self.parameters)

    @property
    def title(self) -> str:
        """The method in the table of results."""
        if self.name == "controlled-rounding":
            return f"{self.name} ({'unbiased' if self.given.get('unbiased') else 'nearest'})"
        if self.name == "chain":
            return f"chain ({' then '.join(step.name for step in self.given['steps'])})"
        return f"{self.name}{' with margins' if self.given.get('margins') else ''}"

    def suits(self, world: World) -> bool:
        """Say whether the method takes an original of that shape."""
        flat = not world.groups
        fits = {
            "any": True,
            "flat": flat,
            "crossed": flat and len(world.shape) == 2,
            "single": flat and len(world.shape) == 1,
        }
        return fits.get(self.needs, False)

    @property
    def asked(self) -> dict[str, Any]:
        """The method as an assessment takes it."""
        if self.name == "chain":
            return {"name": self.name, "steps": [{"name": one.name, **one.parameters} for one in self.given["steps"]]}
        given = {key: _listed(value) for key, value in self.parameters if key != "rules"}
        return {"name": self.name, **given}

    def apply(self, original: Any, seed: int | None = None) -> Any:
        """Return the release of an original."""
        given = self.given
        if self.policy:
            made = dc.assess(original, policy_of(self.policy), protection=self.asked, seed=seed, workers=1)
            assert made.evidence is not None
            return made.evidence.release
        if self.name == "suppress":
            return dc.suppress(original, dc.rules.Threshold(given.pop("rules")), **given).release
        if self.name == "cell-key":
            design = {key: given.pop(key) for key in ("bound", "variance", "minimum") if key in given}
            return dc.protect.CellKey(dc.protect.design_ptable(**design), **given).apply(original, seed).release
        if self.name == "redesign":
            return dc.protect.redesign(original, _listed(given["merge"]))
        if seed is not None and self.random:
            given["seed"] = seed
        return getattr(dc.protect, self.name.replace("-", "_"))(original, **given)

    @property
    def least(self) -> int | None:
        """What a hidden figure is at least: zeros are always shown, unless they may be hidden too."""
        if self.name != "suppress":
            return None
        unsafe = bool(self.policy) and policy_of(self.policy).zeros == "unsafe"
        return 0 if unsafe or self.given.get("zeros") == "suppressible" else 1

    @property
    def random(self) -> bool:
        """Whether the method draws anything."""
        return self.name in RANDOM or bool(self.given.get("unbiased"))


def _listed(value: Any) -> Any:
    """Return tuples as lists, inside mappings too."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


RANDOM = frozenset(
    {
        "random-rounding",
        "semi-controlled-rounding",
        "cell-key",
        "random-sample",
        "bernoulli-sample",
        "stratified-sample",
        "table-swapping",
        "record-swapping",
        "simulation",
        "chain",
    }
)


def _method(name: str, needs: str = "any", **parameters: Any) -> Method:
    return Method(name, tuple(parameters.items()), needs)


KEYS = dc.protect.CellKey(dc.protect.design_ptable(2, 1))
COUNTS: tuple[Method, ...] = (
    _method("random-rounding", base=3),
    _method("random-rounding", base=3, additive=True),
    _method("random-rounding", base=3, margins=True),
    _method("random-rounding", base=5, margins=True),
    _method("conventional-rounding", base=3),
    _method("conventional-rounding", base=5, margins=True),
    _method("conventional-rounding", base=3, margins=True),
    _method("controlled-rounding", base=3),
    _method("controlled-rounding", base=3, unbiased=True),
    _method("small-count-rounding", base=3),
    _method("small-count-rounding", base=5),
    _method("semi-controlled-rounding", base=3),
    _method("semi-controlled-rounding", "crossed", base=3, totals=("a",)),
    _method("hide-and-round", limit=3, base=5),
    _method("hide-and-round", limit=7, base=5),
    _method("hide-and-round", limit=2, base=3),
    _method("cell-key", bound=2, variance=1),
    _method("cell-key", bound=2, variance=1, additive=True),
    _method("cell-key", bound=2, variance=1, margins=True),
    _method("cell-key", "single", bound=3, variance=1.5, minimum=3, margins=True),
    _method("suppress", rules=3),
    _method("suppress", rules=2),
    _method("suppress", rules=3, zeros="suppressible"),
    _method("suppress", rules=3, method="optimal"),
    _method("random-sample", "flat", fraction=0.5),
    _method("random-sample", "flat", fraction=0.7, known_total=True),
    _method("bernoulli-sample", "flat", rate=0.5),
    _method("bernoulli-sample", "flat", rate=0.9),
    _method("stratified-sample", "crossed", by="a", fraction=0.5),
    _method("table-swapping", "crossed", rate=0.4),
    _method("record-swapping", "crossed", area="a", rate=0.3),
    _method("simulation", "crossed"),
    _method("chain", "crossed", steps=(dc.protect.TableSwapping(rate=0.4), dc.protect.RandomRounding(3))),
    _method("chain", "crossed", steps=(dc.protect.TableSwapping(rate=0.4), KEYS)),
    _method("chain", "crossed", steps=(dc.protect.RecordSwapping("a", rate=0.5), dc.protect.ConventionalRounding(3))),
    _method("chain", "flat", steps=(dc.protect.BernoulliSample(0.7), dc.protect.RandomRounding(3))),
    _method("redesign", "flat"),
)
"""Protections of counts."""
MAGNITUDES: tuple[Method, ...] = (_method("suppress", "magnitudes"), _method("tabular-adjustment", "magnitudes"))
"""Protections of magnitudes."""


def merging(method: Method, world: World) -> tuple[Method, World]:
    """Return a redesign that merges the last two categories of the first dimension, and the world with its labels."""
    name, labels = world.dimensions[0]
    if method.name != "redesign":
        return method, world
    groups: Mapping[str, Any] = {name: {"merged": labels[-2:]}}
    read = World(world.dimensions, ((name, (("merged", labels[-2:]),)),))
    return Method("redesign", (("merge", groups),), "flat"), read
