"""Shows the doctests of docstrings as code, under a heading of their own."""

from typing import Any

import griffe


def with_heading(text: str) -> str:
    """Puts `Examples:` above the first doctest and indents what follows, as the Google style wants it."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if line.startswith(">>>")), None)
    if start is None:
        return text
    return "\n".join([*lines[:start], "Examples:", *(f"    {line}" if line else line for line in lines[start:])])


class Examples(griffe.Extension):
    """Gives every docstring with doctests the section that the documentation renders as code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = with_heading(obj.docstring.value)
