"""Functions of an original that also take files and frames of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from discreet.reading.original import is_read, open_original, open_originals
from discreet.reading.reading import Reading

Made = TypeVar("Made")


def reads_original(function: Callable[..., Made]) -> Callable[..., Made]:
    """Let a function take files and frames in place of its first argument, and how they are read by name.

    What has a name of the function's own parameters is for the function; anything but a file or frame is handed on.
    """
    own = tuple(inspect.signature(function).parameters)

    @wraps(function)
    def read(original: object, *given: object, **options: object) -> Made:
        reading, rest = Reading.among(options, own)
        if isinstance(original, list | tuple) and any(map(is_read, original)):
            return function(open_originals(original, reading), *given, **rest)
        if is_read(original) or reading.said():
            original = open_original(original, reading).published()
        return function(original, *given, **rest)

    return read
