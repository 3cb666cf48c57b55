"""What is published, and the truth behind it, as an audit takes them: files, frames, or what was read before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.reading.original import describes_itself, is_frame, open_original
from discreet.reading.reading import Reading
from discreet.reading.tab_release import read_tab_release
from discreet.table.release_reader import read_release, release_from_frame


def open_release(published: Any, reading: Mapping[str, Any] | None = None) -> Any:
    """Return the release that a file or frame holds; anything else is returned as it is.

    Args:
        published: a ``.csv``, ``.parquet``, ``.xlsx`` or ``.tab`` file, or a frame.
        reading: how it is read, as for :func:`discreet.read_release`; a ``.tab`` file says most of it itself.
    """
    given = dict(reading or {})
    if isinstance(published, str | Path):
        if Path(published).suffix.lower() == ".tab":
            own = {name: given[name] for name in ("value", "parts", "encoding") if name in given}
            return read_tab_release(published, **own)
        return read_release(published, **given)
    return release_from_frame(published, **given) if is_frame(published) else published


def open_truth(original: Any, reading: Mapping[str, Any] | None = None, *, judged: bool = False) -> Any:
    """Return the true table beside a release; anything but a file or frame is returned as it is.

    Args:
        original: a file or a frame.
        reading: how releases are read, and so the truth behind them.
        judged: whether rules judge it, which needs cells with all their margins; of a file that describes itself these
            are always read.
    """
    given = dict(reading or {})
    if not isinstance(original, str | Path) and not is_frame(original):
        return original
    own = isinstance(original, str | Path) and describes_itself(Path(original))
    if not judged and not own:
        return open_release(original, given).parts()[0]
    names = ("dimensions", "layout", "total", "parts", "encoding", "delimiter")
    how = {name: given[name] or None for name in names if name in given}
    if own:
        return open_original(original, Reading.of({**how, "dimensions": None})).tabulation()
    how["hierarchies"] = given.get("hierarchies") or None
    return open_original(original, Reading.of({**how, "count": given.get("value")})).tabulation()
