"""Replays of the founding papers: every printed number beside the computed one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from discreet.core.errors import RequestError, require
from discreet.studies.comparison import Study, StudyEffort

__all__ = ["PAPERS", "Study", "StudyEffort", "get"]

PAPERS = ("antal2014", "antal2015", "cohen2009", "domingo2002")
SAMPLED = ("antal2015",)
"""The papers whose studies draw samples."""


def get(paper: str) -> Callable[..., Study]:
    """Return the function that replays a paper; it takes the attributes of :class:`StudyEffort` as keywords.

    >>> get("domingo2002")().reproduced
    True
    """
    require([paper], PAPERS, "there is no study")
    replay: Callable[[StudyEffort], Study] = import_module(f"discreet.studies.{paper}").replay
    return lambda **effort: replay(StudyEffort(**effort))


def check_folder(folder: Path | None) -> None:
    """Refuse a folder that cannot be created, before any work is done."""
    if folder is not None and (folder.is_file() or not folder.absolute().parent.is_dir()):
        raise RequestError(f"{folder} cannot be a folder for the report; name one in a folder that exists")
