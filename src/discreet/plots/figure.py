"""Figures that are drawn without a screen and written whole or not at all, and their colours.

Colour-blind people can tell the colours apart on paper; screens adapt them to light and dark.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import RequestError
from discreet.core.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png")
KNOWN_FILLS = ("#ffffff", "#fdf3df", "#f9d9a6", "#f0a961", "#dd6f36", "#8a1c1c")
"""How much is known about a cell, from nothing to everything: lightness alone distinguishes the steps."""
KNOWN_INKS = ("#1b2530", "#1b2530", "#1b2530", "#1b2530", "#160c06", "#ffffff")
"""The colour of text on each of them."""
UNTOLD = "#eceef0"
"""Protected figures without a stated interval."""
TERM_COLOURS = {"zeros": "#7a8794", "concentration": "#0f6b8f", "size": "#e0a526"}
"""The three terms of R1 and R2."""
MEETS, FAILS, FRONTIER, LIMIT = "#0f6b8f", "#b9481f", "#4a5a68", "#8a1c1c"
"""Methods that meet a policy and those that do not, the efficient frontier, and limits."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise RequestError("matplotlib is not installed; install it with: pip install 'discreet[plots]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: str | Path, *, private: bool = False) -> None:
    """Write a figure as SVG or PNG, by the file's ending, whole or not at all; the same figure gives the same bytes.

    A private file can be read by its owner alone.
    """
    import matplotlib as mpl

    file = Path(path)
    kind = file.suffix.lower()
    if kind not in FORMATS:
        raise RequestError(f"{file}: '{file.suffix}' is not a format of plots; end the name in .svg or .png")
    metadata = {"Date": None} if kind == ".svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        write_whole(
            file, lambda part: figure.savefig(part, format=kind[1:], dpi=150, metadata=metadata), private=private
        )
