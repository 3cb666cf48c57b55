"""Names that the shell offers where an option takes one that discreet knows."""

from __future__ import annotations


def examples(incomplete: str) -> list[str]:
    """Return the bundled tables that begin so.

    >>> examples("re")
    ['religion']
    """
    from discreet.datasets import BUNDLED

    return [name for name in BUNDLED if name.startswith(incomplete)]


def methods(incomplete: str) -> list[str]:
    """Return the protections that begin so, those of plug-ins included."""
    from discreet.protect import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def papers(incomplete: str) -> list[str]:
    """Return the studies that begin so."""
    from discreet.studies import PAPERS

    return [name for name in PAPERS if name.startswith(incomplete)]


def profiles(incomplete: str) -> list[tuple[str, str]]:
    """Return the profiles of policies that begin so, with their titles."""
    from discreet.decide import policy_texts

    return [(name, title) for name, title in policy_texts.profiles().items() if name.startswith(incomplete)]
