"""Equations between indicators: turnover of lettuce = batavia + arugula, value added = output - inputs.

Indicators that an equation ties are one more dimension of their tables: what one table hides of lettuce another may
give away by batavia and arugula. The equations of a plan must form trees, in which every indicator is a sum of others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.core.errors import RequestError
from discreet.table.hierarchy import Hierarchy

TERMS = re.compile(r"\s+([+\-−])\s+")
REMEDY = "write it as a sum, as 'lettuce = batavia + arugula', with blanks around the signs"


@dataclass(frozen=True)
class Equation:
    """One indicator as the sum of others."""

    text: str
    whole: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Equation:
        """Read an equation; terms with a minus change sides.

        >>> Equation.of("value added = output - inputs")
        Equation(text='value added = output - inputs', whole='output', parts=('value added', 'inputs'))
        """
        left, equals, right = (side.strip() for side in text.partition("="))
        pieces = TERMS.split(right)
        names, signs = pieces[::2], ["+", *pieces[1::2]]
        if not equals or not left or "=" in right or len(names) < 2 or not all(names) or TERMS.search(left):
            raise RequestError(f"the equation {text!r} cannot be read; {REMEDY}")
        plus = [name for name, sign in zip(names, signs, strict=True) if sign == "+"]
        minus = [name for name, sign in zip(names, signs, strict=True) if sign != "+"]
        if minus and len(plus) != 1:
            raise RequestError(
                f"the equation {text!r} has sums on both sides once its minuses are moved; {REMEDY}, and give the sum "
                "a name of its own"
            )
        whole, parts = (plus[0], (left, *minus)) if minus else (left, tuple(plus))
        if len({whole, *parts}) <= len(parts):
            raise RequestError(f"the equation {text!r} names an indicator twice; name each once")
        return cls(text, whole, parts)


@dataclass(frozen=True)
class Indicators:
    """The trees that equations between indicators form: the one that each indicator is in, by its root."""

    equations: tuple[Equation, ...] = ()

    @classmethod
    def of(cls, texts: Sequence[str]) -> Indicators:
        """Read equations and check that they form trees.

        >>> found = Indicators.of(["lettuce = batavia + arugula"])
        >>> found.root("arugula"), found.root("pizza"), found.tree("lettuce").codes
        ('lettuce', 'pizza', ('lettuce', 'batavia', 'arugula'))
        """
        found = tuple(Equation.of(text) for text in texts)
        for number, one in enumerate(found):
            for other in found[:number]:
                if other.whole == one.whole:
                    raise RequestError(
                        f"{one.whole!r} is a sum in two equations, {other.text!r} and {one.text!r}; state one of them"
                    )
                if twice := sorted(set(other.parts) & set(one.parts)):
                    raise RequestError(
                        f"{twice[0]!r} is a part in two equations, {other.text!r} and {one.text!r}; name its sums in "
                        "one tree"
                    )
        made = cls(found)
        for one in found:
            made.root(one.whole)
        return made

    @property
    def parent(self) -> Mapping[str, str]:
        """The sum that each indicator is a part of."""
        return {part: one.whole for one in self.equations for part in one.parts}

    def root(self, name: str) -> str:
        """Return the indicator that all others of a tree add up to; an indicator without an equation is its own."""
        parent, way = self.parent, [name]
        while (above := parent.get(way[-1])) is not None:
            if above in way:
                circle = " → ".join([*way[way.index(above) :], above])
                raise RequestError(f"the equations lead in a circle ({circle}); take one of them out")
            way.append(above)
        return way[-1]

    def tree(self, root: str) -> Hierarchy:
        """Return the tree below a root, which is its total."""
        below = {one.whole: one.parts for one in self.equations}
        codes, parents, todo = [root], [-1], [(root, 0)]
        while todo:
            name, at = todo.pop(0)
            for part in below.get(name, ()):
                codes.append(part)
                parents.append(at)
                todo.append((part, len(codes) - 1))
        return Hierarchy(tuple(codes), tuple(parents))

    def tied(self, root: str) -> bool:
        """Say whether an indicator is the root of an equation."""
        return any(one.whole == root for one in self.equations)
