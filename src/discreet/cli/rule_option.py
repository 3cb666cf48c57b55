"""The option of every command that takes sensitivity rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from discreet.cli.compose import option

if TYPE_CHECKING:
    from discreet.rules.rule import Rule

PANEL = "Rules"
Rules = Annotated[
    list[str] | None,
    option("p=10, pq=10,50, dominance=2,85 or threshold=3; p=10@holding judges holdings. Repeat it.", panel=PANEL),
]


def rules_of(texts: list[str] | None) -> list[Rule]:
    """Return the rules that were given; without any, nothing is imported for them."""
    if not texts:
        return []
    from discreet.rules import rule_texts

    return rule_texts.rules_of(texts)
