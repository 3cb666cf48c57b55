"""Policies: what an agency calls sensitive, how much readers may know, and which protections it allows.

A policy is a TOML file or one of the named profiles. It is checked whole: every unknown key and impossible value is
named with its line before anything is assessed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypedDict

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from discreet.auditing.limits import Limits
from discreet.core.errors import DiscreetError, RequestError
from discreet.core.json_types import Json
from discreet.core.text import columns, html_table, listed, settings_text
from discreet.decide.policy_texts import faults_in, open_policy, stated
from discreet.decide.protections import make_method
from discreet.rules import PQ, CellFigures, CustomRule, Dominance, PPercent, Rule, Threshold, group_disclosure
from discreet.rules.rule import Mask
from discreet.table.tabulation import Tabulation
from discreet.table.units import LevelName

Levels = Literal["never", "magnitudes", "always"]


class _Where(TypedDict):
    """To whom a rule applies."""

    level: LevelName
    weighted: bool


class CheckedPart(BaseModel):
    """What the parts of policies and plans share: no unknown keys, immutable, no switch in place of a number.

    ``threshold = true`` is not a threshold of 1, which would call nothing sensitive.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch(cls, value: object, about: ValidationInfo) -> object:
        field = cls.model_fields.get(about.field_name or "")
        if isinstance(value, bool) and field is not None and field.annotation is not bool:
            raise ValueError(f"is {str(value).lower()}, which is not a number or a text; give one")
        return value


class DominanceRule(CheckedPart):
    """The n largest contributors make up more than k per cent."""

    n: Annotated[int, Field(ge=1)]
    k: Annotated[float, Field(gt=0, lt=100)]


class PQRule(CheckedPart):
    """Somebody who knows every contribution within q per cent estimates another within p per cent."""

    p: Annotated[float, Field(gt=0)]
    q: Annotated[float, Field(gt=0, le=100)]

    @model_validator(mode="after")
    def _in_order(self) -> PQRule:
        if self.p >= self.q:
            raise ValueError(f"p is {self.p:g} and q {self.q:g}; p is the smaller one")
        return self


class Rules(CheckedPart):
    """Which cells are sensitive before any protection.

    ``threshold`` holds for counts and magnitudes; ``dominance``, ``p_percent`` and ``pq`` for magnitudes.
    ``group_disclosure`` = k asks for lines with all but k people in one cell.
    """

    threshold: Annotated[float, Field(ge=1)] | None = None
    dominance: tuple[DominanceRule, ...] = ()
    p_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    pq: PQRule | None = None
    combine: Literal["any", "all"] = "any"
    level: Literal["contributor", "holding", "both"] = "both"
    weighted: bool = False
    coalition: Annotated[int, Field(ge=1)] = 1
    safety_range: Annotated[float, Field(ge=0, le=100)] = 30.0
    group_disclosure: Annotated[int, Field(ge=0)] | None = None


class Accepted(CheckedPart):
    """The limits of a policy: how much readers may know. A limit that is not given is not checked.

    Attributes:
        r2: the largest R2 (after protection; for a sample table, its estimate).
        dr: the largest disclosure risk 1/H of a sensitive cell, to a reader who knows the method.
        width: the least width of the interval of a sensitive cell.
        tau: the largest expected number of population uniques among the sample uniques.
        levels: whether intervals of sensitive cells must reach the protection levels of the rules.
    """

    r2: Annotated[float, Field(gt=0, le=1)] | None = None
    dr: Annotated[float, Field(gt=0)] | None = None
    width: Annotated[float, Field(ge=0)] | None = None
    tau: Annotated[float, Field(ge=0)] | None = None
    levels: Levels = "magnitudes"

    @property
    def of_figures(self) -> Limits:
        """The limits on single figures, as every audit judges them."""
        return Limits(self.width, self.dr)

    def met(self, name: Literal["r2", "tau"], value: float) -> bool:
        """Say whether a figure of the whole table is within its limit, if it has one."""
        limit: float | None = getattr(self, name)
        return limit is None or value <= limit


class Protection(BaseModel):
    """A protection that the agency allows: the name of a method, and its parameters.

    ``only`` restricts it to tables of counts or of magnitudes.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str
    only: Literal["counts", "magnitudes"] | None = None

    @property
    def parameters(self) -> dict[str, Json]:
        """The method's parameters."""
        return dict(self.__pydantic_extra__ or {})

    def suits(self, magnitudes: bool) -> bool:
        """Say whether it is allowed for a table of magnitudes, or of counts."""
        return self.only in (None, "magnitudes" if magnitudes else "counts")

    def to_dict(self) -> dict[str, Json]:
        """Return plain data, in the layout of the TOML file."""
        return {"name": self.name, **({} if self.only is None else {"only": self.only}), **self.parameters}

    @model_validator(mode="after")
    def _is_made(self) -> Protection:
        try:
            # Which rules apply is known once there is a table; any rule will do to check the other parameters.
            make_method(self.name, self.parameters, (Threshold(3),))
        except DiscreetError as error:
            raise ValueError(str(error)) from None
        return self


class Policy(CheckedPart):
    """Rules, limits, weights and allowed protections of an agency.

    ``protections`` are tried in order when one is to be proposed; ``allow`` says whether others may be requested.
    ``as_is`` says whether a table without sensitive cells is published unprotected. If so, a protected table reveals
    that it has some; with ``"never"`` all tables are protected, which reveals nothing. ``insiders`` says which
    respondents are judged as readers, each with all their contributions: all of them, those who are alone in a cell
    (``"singletons"``), or ``"none"``, which every verdict then mentions.

    >>> policy = Policy.load("default")
    >>> policy.rules.threshold, policy.limits.levels
    (3.0, 'magnitudes')
    """

    name: str = "own"
    title: str = ""
    rules: Rules = Rules()
    limits: Accepted = Accepted()
    zeros: Literal["safe", "unsafe"] = "safe"
    insiders: Literal["respondents", "singletons", "none"] = "respondents"
    weights: tuple[float, float, float] = (0.1, 0.8, 0.1)
    protections: tuple[Protection, ...] = ()
    allow: Literal["listed", "any"] = "listed"
    as_is: Literal["if safe", "never"] = "if safe"

    @field_validator("weights")
    @classmethod
    def _sum_to_one(cls, weights: tuple[float, float, float]) -> tuple[float, float, float]:
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
            raise ValueError(f"weights are {listed(weights)}, which sum to {sum(weights):g}; give three that sum to 1")
        return weights

    @classmethod
    def load(cls, source: str | Path | Policy) -> Policy:
        """Return a named profile, the policy of a TOML file, or the policy itself."""
        return source if isinstance(source, Policy) else cls._checked(*open_policy(source))

    @classmethod
    def from_text(cls, text: str, name: str = "own") -> Policy:
        """Return the policy that a TOML text states."""
        return cls._checked(text, name, Path("."))

    @classmethod
    def _checked(cls, text: str, name: str, folder: Path) -> Policy:
        whole = stated(text, name, folder, cls._checked)
        try:
            made = cls.model_validate({**whole, "name": Path(name).stem if name.endswith(".toml") else name})
        except ValidationError as error:
            raise RequestError(f"{name}: {faults_in(error, text, KEYS)}") from None
        limits = made.limits.model_dump(exclude={"levels"}, exclude_none=True)
        if not (limits or made.asks(magnitudes=True) or made.asks(magnitudes=False)):
            raise RequestError(
                f"{name} has neither a rule nor a limit, so every table would pass; add one, as threshold = 3 under "
                '[rules], or extend a profile (extends = "default")'
            )
        return made

    def asks(self, *, magnitudes: bool) -> bool:
        """Say whether the policy asks anything of tables of magnitudes, or of counts, that are not samples.

        Other limits apply to sensitive cells, and without a rule there are none.
        """
        if self.judges(magnitudes):
            return True
        return not magnitudes and (self.rules.group_disclosure is not None or self.limits.r2 is not None)

    def refuse_silence(self, *, magnitudes: bool) -> None:
        """Refuse to judge a table of which the policy asks nothing: it would pass whatever it contains."""
        if not self.asks(magnitudes=magnitudes):
            what, remedy = ("magnitudes", "p_percent = 10") if magnitudes else ("counts", "threshold = 3")
            raise RequestError(
                f"policy {self.name!r} has no rule and no limit for tables of {what}, so any would pass; add one, as "
                f"{remedy} under [rules], or name another policy"
            )

    def judges(self, magnitudes: bool, *, holdings: bool = True) -> list[Rule]:
        """Return the rules as objects, for a table of magnitudes or of counts, with holdings or without."""
        rules = self.rules
        levels: list[LevelName] = ["contributor", "holding"] if rules.level == "both" else [rules.level]
        found: list[Rule] = []
        for level in (level for level in levels if holdings or level == "contributor"):
            where = _Where(level=level, weighted=rules.weighted)
            if rules.threshold is not None or self.zeros == "unsafe":
                least = 1.0 if rules.threshold is None else rules.threshold
                found.append(Threshold(least, self.zeros, rules.safety_range, **where))
            if magnitudes:
                found += [Dominance(one.n, one.k, **where) for one in rules.dominance]
                if rules.p_percent is not None:
                    found.append(PPercent(rules.p_percent, rules.coalition, **where))
                if rules.pq is not None:
                    found.append(PQ(rules.pq.p, rules.pq.q, rules.coalition, **where))
        return found

    def judges_of(self, tabulation: Tabulation) -> list[Rule]:
        """Return the rules that apply to a tabulation: those of holdings only where it knows holdings."""
        holdings = tabulation.holdings is not None
        if self.rules.level == "holding" and not holdings:
            raise RequestError(
                "the policy looks at holdings (rules.level), but the table has none; tabulate with the column of "
                "holdings (holding=, --holding), or choose the level 'contributor'"
            )
        found = self.judges(bool(tabulation.responses), holdings=holdings)
        # Weighted counts are counts of people too.
        if self.rules.group_disclosure is not None and all(one.counts for one in tabulation.responses):
            found.append(group_rule(self.rules.group_disclosure))
        return found

    def allows(self, method: str, magnitudes: bool) -> bool:
        """Say whether the policy allows a method: any, or one of those listed, whatever its parameters."""
        return self.allow == "any" or method in {one.name for one in self.protections if one.suits(magnitudes)}

    def proposes(self, method: str, parameters: dict[str, object], magnitudes: bool) -> bool:
        """Say whether a method with exactly these parameters is among those tried for such a table."""
        listed = [one for one in self.protections if one.suits(magnitudes)]
        return any((one.name, one.parameters) == (method, parameters) for one in listed)

    @property
    def top(self) -> int:
        """How many of the largest contributions to a cell the rules need."""
        return max([2, self.rules.coalition + 1, *(one.n for one in self.rules.dominance)])

    def to_dict(self) -> dict[str, Json]:
        """Return plain data, in the layout of the TOML file."""
        data = self.model_dump(mode="json", exclude_none=True)
        data["protections"] = [one.to_dict() for one in self.protections]
        return data

    @property
    def sha256(self) -> str:
        """The hash of the policy's content, whatever the layout of its file."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def rows(self) -> list[list[str]]:
        """Return what the policy asks for, as rows of text."""
        rows = [["rules", "; ".join(dict.fromkeys(rule.title for rule in self.judges(True))) or "none"]]
        if self.rules.group_disclosure is not None:
            few = self.rules.group_disclosure
            who = f"all but at most {few:,} people" if few else "everybody"
            rows.append(["group disclosure", f"{who} of a line in one cell"])
        limits = self.limits.model_dump(exclude_none=True)
        return [
            *rows,
            *([f"limit {name}", str(value)] for name, value in limits.items()),
            ["zeros", self.zeros],
            ["insiders", self.insiders],
            ["weights", ", ".join(f"{w:g}" for w in self.weights)],
            *(["protection", make_text(one.name, one.parameters)] for one in self.protections),
            ["allowed", "any protection" if self.allow == "any" else "the protections listed"],
            ["published as it is", self.as_is],
        ]

    def __str__(self) -> str:
        """Return the policy as a table of what it asks for."""
        return f"Policy {self.name}: {self.title}\n{columns(['', ''], self.rows(), left=2)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(["", ""], self.rows(), left=2, caption=f"Policy {self.name}: {self.title}")


def group_rule(coalition: int) -> CustomRule:
    """Return the rule that calls a cell sensitive if all but a few people of one of its lines are in it."""

    def mask(cells: CellFigures) -> Mask:
        return np.isin(cells.tabulation.cells, group_disclosure(cells.tabulation, coalition=coalition).cells)

    who = "everybody" if not coalition else f"all but {coalition} people"
    return CustomRule(mask, f"group disclosure ({who} of a line in one cell)")


def make_text(name: str, parameters: Mapping[str, object]) -> str:
    """Return a method with its parameters in readable form.

    >>> make_text("random-rounding", {"base": 3})
    'random-rounding, base 3'
    """
    return ", ".join(filter(None, (name, settings_text(parameters))))


KEYS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): (*(k for k in Policy.model_fields if k != "name"), "extends"),
    ("rules",): tuple(Rules.model_fields),
    ("limits",): tuple(Accepted.model_fields),
    ("rules", "dominance"): tuple(DominanceRule.model_fields),
    ("rules", "pq"): tuple(PQRule.model_fields),
}
"""The keys that each table of a policy knows."""
