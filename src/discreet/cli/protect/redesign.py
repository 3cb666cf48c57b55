"""``discreet protect`` by merging categories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from discreet.cli import options, show
from discreet.cli.audit_texts import merged_of
from discreet.cli.protect.common import protects
from discreet.cli.rule_texts import Rules, rules_of
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.protect.base import Original, Protected

in_hand, in_advice = options.panel("By hand"), options.panel("Advised")


def redesign(
    original: Any,
    merge: Annotated[list[str] | None, in_hand("--merge", help="DIMENSION:GROUP=CATEGORY+CATEGORY.")] = None,
    level: Annotated[
        list[str] | None, in_hand("--level", help="DIMENSION=LEVEL of its hierarchy; 1 is coarsest.")
    ] = None,
    rule: Rules = None,
    max_risk: Annotated[float | None, in_advice("--max-risk", help="Merge until R1 is at most this.")] = None,
    max_violations: Annotated[
        int | None, in_advice("--max-violations", help="Merge until so many cells are sensitive.")
    ] = None,
    allow: Annotated[list[str] | None, in_advice("--allow", help="DIMENSION=any, neighbours, levels or none.")] = None,
    order: Annotated[list[str] | None, in_advice("--order", help="DIMENSION=CATEGORY,CATEGORY,… in order.")] = None,
    limit: Annotated[int, in_advice("--limit", help="Recodings tried before it gets greedy.", min=1)] = 2000,
) -> Any:
    """Merge categories, and publish the coarser table as it is.

    Say what to merge, or how far the number of sensitive cells (--rule) or the risk (--max-risk) is to come down: then
    the cheapest recoding is searched, with the fewest merges and the least entropy lost, and the steps towards it are
    shown.
    """
    from discreet.protect.redesign import Redesign, merging, to_levels
    from discreet.protect.redesign.recode import joined

    rules = rules_of(rule)
    advised = bool(rules) or max_risk is not None
    if advised == bool(merge or level):
        raise RequestError(
            "say what to merge (--merge, --level), or what to reach (--rule threshold=3, --max-risk 0.1)"
        )
    if not advised:
        levels = to_levels(original, {name: _whole(name, text) for name, text in _pairs(level, "--level").items()})
        return Redesign.of(joined(original, merging(merged_of(merge)), levels))
    if rules and max_risk is not None:
        raise RequestError("rules and --max-risk are two goals; give one")
    if max_violations is not None and not rules:
        raise RequestError("--max-violations counts what rules find; give one, for example --rule threshold=3")
    return _Advised(original, rules, max_risk, max_violations or 0, allow, order, limit)


class _Advised:
    """The search as a method, so that what it found is told with the release."""

    name = "redesign"

    def __init__(
        self,
        original: Original,
        rules: list[Any],
        max_risk: float | None,
        max_violations: int,
        allow: list[str] | None,
        order: list[str] | None,
        limit: int,
    ) -> None:
        from discreet.protect.redesign import advise, violations

        orders = {name: text.split(",") for name, text in _pairs(order, "--order").items()}
        with show.Bar() as bar:
            self.advice = advise(
                original,
                violations(rules) if rules else _risk,
                float(max_violations) if max_risk is None else max_risk,
                allowed=_pairs(allow, "--allow"),  # type: ignore[arg-type]
                order=orders,
                limit=limit,
                progress=bar,
            )

    @property
    def parameters(self) -> dict[str, object]:
        """The recoding that is advised."""
        return self.advice.method.parameters

    def apply(self, original: Original, seed: Any = None, *, progress: Any = None) -> Protected:
        """Merge as advised."""
        if self.advice.chosen is not None and not self.advice.chosen.merges:
            raise RequestError(f"{self.advice.sentence} Publish the table as it is")
        done = self.advice.method.apply(original, progress=progress)
        return replace(done, details={**done.details, "advice": self.advice.to_dict()})


def _risk(original: Original) -> float:
    from discreet.measures.risk import risk
    from discreet.table import Table

    table = original if isinstance(original, Table) else original.table()
    # One cell says nothing of where anybody is.
    return risk(table, slices=[]).value if table.possible > 1 else 0.0


def _finish(done: Protected, console: Any) -> None:
    advice = done.details.get("advice")
    if advice is None:
        return
    console.print(f"\n{advice['sentence']}", markup=False)
    rows = [
        [
            str(step["merges"]),
            f"{step['score']:g}",
            f"{step['removed']:g}",
            f"{step['share']:.1%}",
            "; ".join(
                f"{name}: {', '.join(dict.fromkeys(groups.values()))}" for name, groups in step["recoding"].items()
            ),
        ]
        for step in advice["frontier"]
    ]
    show.table(console, ["merges", "score", "removed", "entropy lost", "merged"], rows)


def _pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    return {name: found[-1] for name, found in options.pairs(texts, option, "give DIMENSION=…").items()}


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--level {name}={text}: a level is a whole number, as 1") from None


COMMANDS = {
    "redesign": protects(
        redesign,
        {
            "discreet protect redesign table.csv --merge 'activity:5,6=5+6' -o merged.csv": "merge two categories",
            "discreet protect redesign t.csv --hierarchy region=nuts.hrc --level region=2 -o m.csv": "a coarser level",
            "discreet protect redesign table.csv --rule threshold=3 --allow age=neighbours -o m.csv": "by a rule",
            "discreet protect redesign religion.csv --max-risk 0.2 --limit 500 -o merged.csv": "by the risk",
        },
        random=False,
        finish=_finish,
    ),
}
