"""``discreet protect redesign``: merge categories by hand, or as advised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from discreet.cli import options, show
from discreet.cli.audit_texts import merged_of
from discreet.cli.compose import panel
from discreet.cli.protect.common import protects
from discreet.cli.rule_option import Rules, rules_of
from discreet.core.errors import RequestError
from discreet.core.progress import Progress
from discreet.core.text import brief
from discreet.protect.base import Original, Protected
from discreet.protect.redesign import Advice, Redesign, advise, merging, to_levels, violations
from discreet.protect.redesign.recode import joined
from discreet.table import Table

in_hand, in_advice = panel("By hand"), panel("Advised")


@dataclass(frozen=True)
class Advised:
    """How far risk is to come down, and what may be merged for it."""

    rule: Rules = None
    max_r1: Annotated[float | None, in_advice("Merge until R1 is at most this.")] = None
    max_violations: Annotated[int | None, in_advice("Merge until only this many cells are sensitive.")] = None
    allow: Annotated[list[str] | None, in_advice("DIMENSION=any, neighbours, levels or none.")] = None
    order: Annotated[list[str] | None, in_advice("DIMENSION=CATEGORY,CATEGORY,… in order.")] = None
    tries: Annotated[int, in_advice("How many recodings to try before the search turns greedy.", min=1)] = 2000

    def method(self, original: Original) -> _FoundRedesign:
        """Return the recoding that a search finds, as a method."""
        rules = rules_of(self.rule)
        if rules and self.max_r1 is not None:
            raise RequestError("rules and --max-r1 are two goals; give one")
        if self.max_violations is not None and not rules:
            raise RequestError("--max-violations counts what rules find; give one, for example --rule threshold=3")
        with show.ProgressBar() as bar:
            advice = advise(
                original,
                violations(rules) if rules else _risk,
                float(self.max_violations or 0) if self.max_r1 is None else self.max_r1,
                allowed=_pairs(self.allow, "--allow"),
                order={name: text.split(",") for name, text in _pairs(self.order, "--order").items()},
                limit=self.tries,
                progress=bar,
            )
        return _FoundRedesign(advice)


@dataclass(frozen=True)
class _FoundRedesign:
    """A search as a method, so what it found is told with the release."""

    advice: Advice

    def apply(self, original: Original, seed: object = None, *, progress: Progress | None = None) -> Protected:
        if self.advice.chosen is not None and not self.advice.chosen.merges:
            raise RequestError(f"{self.advice.sentence} Publish the table as it is")
        done = self.advice.method.apply(original, progress=progress)
        return replace(done, details={**done.details, "advice": self.advice.to_dict()})


def redesign(
    original: Original,
    merge: Annotated[list[str] | None, in_hand("DIMENSION:GROUP=CATEGORY+CATEGORY.")] = None,
    level: Annotated[list[str] | None, in_hand("DIMENSION=LEVEL of its hierarchy; 1 is coarsest.")] = None,
    *,
    advised: Advised,
) -> Redesign | _FoundRedesign:
    """Merge categories, and publish the coarser table as it is.

    Say what to merge, or how far to bring down the number of sensitive cells (--rule) or the risk (--max-r1). Then
    the cheapest recoding is searched for, with the fewest merges and the least entropy lost, and the steps towards it
    are shown.
    """
    sought = bool(advised.rule) or advised.max_r1 is not None
    if sought == bool(merge or level):
        raise RequestError("say what to merge (--merge, --level), or what to reach (--rule threshold=3, --max-r1 0.1)")
    if sought:
        return advised.method(original)
    levels = to_levels(original, {name: _integer(name, text) for name, text in _pairs(level, "--level").items()})
    return Redesign.of(joined(original, merging(merged_of(merge)), levels))


def _risk(original: Original) -> float:
    from discreet.measures.risk import risk

    table = original if isinstance(original, Table) else original.table()
    # One cell says nothing of where anybody is.
    return risk(table, slices=[]).value if table.possible > 1 else 0.0


def _finish(done: Protected, console: show.Console) -> None:
    advice = done.details.get("advice")
    if advice is None:
        return
    console.print(f"\n{advice['sentence']}")
    rows = [
        [
            str(step["merges"]),
            brief(step["score"]),
            brief(step["removed"]),
            f"{step['share']:.1%}",
            "; ".join(f"{name}: {', '.join(dict.fromkeys(to.values()))}" for name, to in step["recoding"].items()),
        ]
        for step in advice["frontier"]
    ]
    show.table(console, ["merges", "score", "removed", "entropy lost", "merged"], rows, left=(0, 4))


def _pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    return {name: found[-1] for name, found in options.pairs(texts, option, "give DIMENSION=…").items()}


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--level {name}={text}: a level is an integer, as 1") from None


COMMANDS = {
    "redesign": protects(
        redesign,
        {
            "discreet protect redesign table.csv --merge 'activity:5 and 6=5+6' -o merged.csv": "merge two categories",
            "discreet protect redesign t.csv --hierarchy region=nuts.hrc --level region=2 -o m.csv": "a coarser level",
            "discreet protect redesign table.csv --rule threshold=3 --allow age=neighbours -o m.csv": "by a rule",
            "discreet protect redesign religion.csv --max-r1 0.2 --tries 500 -o merged.csv": "by the risk",
        },
        random=False,
        finish=_finish,
    )
}
