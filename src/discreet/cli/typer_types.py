"""Names for what typer hands over: its classes come from a copy of click that it does not export."""

from __future__ import annotations

from typing import Any, TypeAlias

Command: TypeAlias = Any
"""A command or a group of commands."""
CommandsByName: TypeAlias = Any
"""Commands by name, which typer keeps in a dict."""
Parameter: TypeAlias = Any
"""An option or argument of a command."""
Context: TypeAlias = Any
"""One call of a command."""
UsageError: TypeAlias = Any
"""A complaint about a command line."""
