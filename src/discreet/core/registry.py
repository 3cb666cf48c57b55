"""Members of a family by name: those that come with discreet, and those that other packages add."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar, cast

from discreet.core.errors import RequestError, require

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """One family: kinds, protections, models, laws, engines or rules.

    A package adds a member by an entry point of the family's group, in its ``pyproject.toml``::

        [project.entry-points."discreet.protections"]
        noise = "noise:Noise"

    Members that come with discreet cannot be replaced, and a name that two packages claim is refused.

    >>> sizes = Registry("discreet.sizes", "size", {"small": 1, "pi": "math:pi"})
    >>> list(sizes), sizes["pi"] > 3, "large" in sizes
    (['small', 'pi'], True, False)
    """

    def __init__(self, group: str, what: str, members: Mapping[str, T | str]) -> None:
        """Name the group of entry points, what a member is called, and the members that come with discreet.

        A member given as ``module:attribute`` is imported when it is first asked for.
        """
        self.group, self.what = group, what
        self._own: dict[str, T | str] = dict(members)

    def __getitem__(self, name: str) -> T:
        """Return a member; an unknown name is refused."""
        found = self._own.get(name)
        if isinstance(found, str):
            home, _, attribute = found.partition(":")
            found = self._own[name] = cast("T", getattr(import_module(home), attribute))
        return self._added(name) if found is None else found

    def _added(self, name: str) -> T:
        self.check(name)
        points = [point for point in _entry_points(self.group) if point.name == name]
        places = sorted({point.value for point in points})
        if len(places) > 1:
            raise RequestError(
                f"several packages add the {self.what} {name!r} ({', '.join(places)}); remove all but one"
            )
        try:
            found = cast("T", next(iter(points)).load())
        except Exception as error:
            raise RequestError(
                f"the {self.what} {name!r} cannot be loaded from {places[0]} ({type(error).__name__}: {error}); "
                "correct or remove the package that adds it"
            ) from error
        if (own := getattr(found, "name", name)) != name:
            raise RequestError(f"{places[0]} calls itself {own!r}, but is added as the {self.what} {name!r}")
        return found

    def __iter__(self) -> Iterator[str]:
        """Yield the names, those of other packages last."""
        yield from dict.fromkeys([*self._own, *sorted(point.name for point in _entry_points(self.group))])

    def __contains__(self, name: object) -> bool:
        """Say whether there is a member of this name."""
        return name in self._own or any(point.name == name for point in _entry_points(self.group))

    def check(self, name: str) -> None:
        """Refuse a name that is not there."""
        require([name], self, f"there is no {self.what}")

    def __len__(self) -> int:
        """Return the number of members."""
        return sum(1 for _ in self)


def _entry_points(group: str) -> EntryPoints:
    return _read_entry_points(group, tuple((place, _changed(place)) for place in sys.path))


def _changed(place: str) -> int:
    """Return when a folder was last changed, as by installing a package; 0 if there is none."""
    try:
        return os.stat(place or ".").st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=16)
def _read_entry_points(group: str, places: tuple[tuple[str, int], ...]) -> EntryPoints:
    """Return what the packages in these places add: each of them is read for that, so once is enough."""
    # Imported late: it takes longer than a small command, and most find what they need among our own.
    from importlib.metadata import entry_points

    return entry_points(group=group)
