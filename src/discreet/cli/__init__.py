"""The command line: parse, call, show. Nothing is computed here."""

from discreet.cli.app import main

__all__ = ["main"]
