"""A figure that draws without a screen and is written whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import RequestError
from discreet.core.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise RequestError("matplotlib is not installed; install it with: pip install 'discreet[plots]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as SVG or PNG, by the file's ending, whole or not at all; the same figure gives the same bytes."""
    import matplotlib as mpl

    file = Path(path)
    kind = file.suffix.lower()
    if kind not in FORMATS:
        raise RequestError(f"{file}: '{file.suffix}' is not a format of plots; end the name in .svg or .png")
    metadata = {"Date": None} if kind == ".svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        write_whole(file, lambda part: figure.savefig(part, format=kind[1:], dpi=150, metadata=metadata))
