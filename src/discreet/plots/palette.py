"""Colours that people who see colours differently can tell apart, on paper; screens adapt them to light and dark."""

from __future__ import annotations

KNOWN_FILLS = ("#ffffff", "#fdf3df", "#f9d9a6", "#f0a961", "#dd6f36", "#8a1c1c")
"""How much is known of a cell, from nothing to all: lightness alone tells the steps apart."""
KNOWN_INKS = ("#1b2530", "#1b2530", "#1b2530", "#1b2530", "#160c06", "#ffffff")
"""The colour of text on each of them."""
UNTOLD = "#eceef0"
"""Protected figures of which no interval is stated."""
TERM_COLOURS = {"zeros": "#7a8794", "concentration": "#0f6b8f", "size": "#e0a526"}
"""The three terms of R1 and R2."""
MEETS, FAILS, FRONTIER, LIMIT = "#0f6b8f", "#b9481f", "#4a5a68", "#8a1c1c"
"""Methods that meet a policy and those that do not, the efficient frontier, and limits."""
