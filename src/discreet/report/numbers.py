"""Figures in readable form."""

from __future__ import annotations

from discreet.core.text import number_text

NOTHING = "–"


def amount(value: str | float | None, decimals: int | None = None) -> str:
    """Return an amount with separators; an unknown one is a dash, an infinite one its sign.

    >>> amount(12345), amount(0.5), amount(None), amount(12.5, 2)
    ('12,345', '0.5', '–', '12.50')
    """
    return value if isinstance(value, str) else number_text(value, decimals)


def measure(value: float | None, digits: int = 4) -> str:
    """Return a measure to so many decimals.

    >>> measure(0.23146), measure(None)
    ('0.2315', '–')
    """
    return NOTHING if value is None else f"{float(value):.{digits}f}"


def share(value: float | None) -> str:
    """Return a share as per cent.

    >>> share(0.247)
    '24.7%'
    """
    return NOTHING if value is None else f"{100 * float(value):.1f}%"


def between(lower: str | float | None, upper: str | float | None) -> str:
    """Return an interval in words; an end without a bound is left open.

    >>> between(0, 2), between(3, 3), between(5, None)
    ('0 to 2', '3', '5 or more')
    """
    if lower is None and upper is None:
        return "anything"
    if upper is None:
        return f"{amount(lower)} or more"
    if lower is None:
        return f"{amount(upper)} or less"
    return amount(lower) if lower == upper else f"{amount(lower)} to {amount(upper)}"


def capital(text: str) -> str:
    """Return a text with its first letter as a capital.

    >>> capital("fewer than 3 contributors")
    'Fewer than 3 contributors'
    """
    return text[:1].upper() + text[1:]
