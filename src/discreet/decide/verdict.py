"""The verdict on one release: every requirement of a policy checked, with a reason in words and the cells at fault."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from discreet.auditing.audit import TIED, UNJUDGED
from discreet.auditing.common_step import STEPS
from discreet.core.json_types import Json
from discreet.core.numerics import BoolArray
from discreet.core.text import at_most
from discreet.decide.evidence import Evidence
from discreet.decide.known_cells import STATES
from discreet.decide.policy import Accepted
from discreet.decide.subject import Case
from discreet.protect import METHODS
from discreet.rules.rule import amount

Verdict: TypeAlias = Literal["release", "protect", "withhold"]
RANK: dict[str, int] = {"release": 0, "protect": 1, "withhold": 2}
"""The severity of verdicts."""
PHRASES: dict[str, str] = {
    "release": "release it as it is",
    "protect": "release it after protection",
    "withhold": "do not release it",
}

READERS: dict[str, str] = {"method": "a reader who knows the method", "figures": "a reader of the published figures"}
"""Against whom a requirement is shown to hold. Methods that make each figure from its own value alone reveal nothing
but the figures to a reader who knows them. Others, such as suppression or controlled rounding, look at all cells
together: what their choice reveals beyond the figures is not judged."""


@dataclass(frozen=True)
class Check:
    """One requirement of the policy, whether the release meets it, and why, in words.

    ``value`` is what was found and ``limit`` what is allowed, where there are such figures; ``cells`` numbers the
    sensitive cells at fault, the worst first. ``reader`` says against whom it holds, where it is about what can be
    worked out: a key of :data:`READERS`. ``brief`` says in a few words what is wrong.
    """

    name: str
    passed: bool
    text: str
    value: float | None = None
    limit: float | None = None
    cells: tuple[int, ...] = ()
    reader: str = ""
    brief: str = ""

    @property
    def beyond(self) -> float:
        """How far what was found is from what is allowed."""
        return 0.0 if self.value is None or self.limit is None else abs(self.value - self.limit)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            "check": self.name,
            "passed": self.passed,
            "text": self.text,
            "value": None if self.value is None or not np.isfinite(self.value) else float(self.value),
            "limit": self.limit,
            "cells": len(self.cells),
            "reader": self.reader or None,
        }


def check(case: Case, evidence: Evidence) -> tuple[Check, ...]:
    """Check a release against every requirement of a policy."""
    checks = [*_rules(case, evidence), *_lines(case, evidence)]
    if case.cells.size:
        checks += _limits(case, evidence)
    if evidence.inside is not None:
        inside = evidence.inside
        bad = len(inside.cells)
        brief = f"{_many(bad)} not safe from respondents" if bad else inside.text
        checks.append(Check("insiders", inside.passed, inside.text, bad, 0, inside.cells, brief=brief))
    checks += [*_left(evidence), *_categories(evidence, checks)]
    return (*checks, *_statistics(evidence), *_allowed(case, evidence), *_r2(case, evidence))


def _left(evidence: Evidence) -> list[Check]:
    """Say so if a release shows nothing: that is safe, and useless."""
    hidden = [part.hidden for part in evidence.release.parts()]
    if not any(part.size for part in hidden) or not all(part.all() for part in hidden):
        return []
    return [Check("left", True, "all figures are hidden, so nothing is left to publish; a coarser table keeps more")]


def _categories(evidence: Evidence, checks: list[Check]) -> list[Check]:
    """Say which categories readers know not to be empty, whatever is printed, and what helps where too much follows."""
    if not (found := evidence.inhabited):
        return []
    more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
    text = (
        f"readers know that somebody is in {', '.join(found[:3])}{more}, since a category is listed if records are in "
        "it; to keep that open, list all categories, empty ones too (hierarchies=, --hierarchy DIMENSION=FILE)"
    )
    kept = all(one.passed for one in checks if one.name in ("determined", "width", "dr"))
    return [Check("categories", kept, text, brief="that categories are listed tells who is in them")]


def _statistics(evidence: Evidence) -> list[Check]:
    """Check statistics beside the figures: what they give away, and how many are published."""
    columns = [column for part in evidence.release.parts() for column in part.statistics]
    if not columns:
        return []
    if evidence.objections:
        told = "; ".join(evidence.objections[:3])
        text = f"statistics beside the figures give away more than they may, or were not judged: {told}"
        return [Check("statistics", False, text, len(evidence.objections), 0, brief="statistics are not safe")]
    if evidence.statistics:
        told = "; ".join(map(str, evidence.statistics))
        text = f"statistics are those of the published figures, and reveal no more ({told})"
        measures = [part for part in evidence.release.parts() if part.measure]
        if measures:
            hidden = ", ".join(f"{one.measure} ({int(one.hidden.sum()):,} hidden)" for one in measures)
            text += f"; what else they are computed from is published too, suppressed by the same rules: {hidden}"
        return [Check("statistics", True, text)]
    told = ", ".join(f"{column.name} ({len(column):,})" for column in columns)
    return [Check("statistics", True, f"statistics beside the figures were audited with them: {told}")]


def _r2(case: Case, evidence: Evidence) -> list[Check]:
    """Check the risk of the whole release."""
    limit = case.policy.limits.r2
    if limit is None:
        return []
    if evidence.risk is not None:
        value = evidence.risk.value
        found = held(case.policy.limits, "r2", value, f"the risk R2 of the release is {value:.4f}")
        brief = f"R2 of {value:.4f} is above {limit:g}"
        return [replace(found, text=f"{found.text}; it is driven by {evidence.risk.driver}", brief=brief)]
    if case.subject.table is None:
        return []
    text = f"the limit of {limit:g} on the risk R2 does not apply: the table has one cell that anybody can be in"
    return [Check("r2", True, text, None, limit)]


def held(limits: Accepted, name: Literal["r2", "tau"], value: float, text: str) -> Check:
    """Compare a figure of the whole table with its limit."""
    kept, limit = limits.met(name, value), getattr(limits, name)
    return Check(name, kept, f"{text}, {'within' if kept else 'above'} the limit of {limit:g}", value, limit)


def _allowed(case: Case, evidence: Evidence) -> list[Check]:
    """Check that the policy allows the method; a release made elsewhere need not state its method."""
    method, policy, magnitudes = evidence.release.method, case.policy, case.subject.magnitudes
    if method not in METHODS or policy.allows(method, magnitudes):
        return []
    suitable = [one.name for one in policy.protections if one.suits(magnitudes)]
    listed = ", ".join(dict.fromkeys(suitable)) or "none"
    what = "magnitudes" if magnitudes else "counts"
    text = f"policy {policy.name!r} does not allow {method}"
    return [Check("allowed", False, f"{text}; it lists {listed} for {what}", brief=text)]


def _rules(case: Case, evidence: Evidence) -> list[Check]:
    """Check that no sensitive cell is published, can be worked out, or was left unjudged by the audit."""
    found, known, unasked = case.found, evidence.known, ""
    of_people = not case.subject.magnitudes or case.subject.weighted
    if of_people and case.policy.rules.group_disclosure is None:
        unasked = "; lines with everybody in one cell (group disclosure) were not looked for, as the policy does not "
        unasked += "ask for it"
    if found is None:
        text = "the policy has no rule for such a table, so no cell is sensitive"
        return [Check("rules", True, text + unasked)]
    n = found.cells.size
    if not n:
        titles = ", ".join(dict.fromkeys(rule.title for rule in found.rules))
        text = f"none of the {found.tabulation.whole:,} cells and totals is sensitive ({titles})"
        return [Check("rules", True, text + unasked, 0)]
    wrong = known.wrong("shown")
    bad, hidden = int(wrong.sum()), int((~wrong).sum())
    text = f"{found.sentence}; {_some(bad, n)} published exactly{unasked}"
    checks = [_counted("rules", text, wrong, evidence, "", f"{_many(bad)} published exactly")]
    tied = TIED in evidence.audit.note
    wrong = known.wrong("exact")
    bad, reader = int(wrong.sum()), evidence.reader
    if hidden and (bad or not tied):
        which = f"{_part(bad, hidden)} hidden or changed cells can"
        if hidden == 1:
            which = f"the hidden or changed cell {'can' if bad else 'cannot'}"
        text = f"{which} be worked out exactly by {READERS[reader]}"
        checks.append(_counted("determined", text, wrong, evidence, reader, f"{_many(bad)} known exactly"))
    bad = known.count("unfinished")
    # What could not be judged of respondents is told with them; more time would not help.
    if bad and (evidence.inside is None or evidence.inside.judged):
        note = evidence.audit.note
        why = "statistics beside them were not judged" if UNJUDGED in note else "give more time"
        text = f"the audit could not finish {bad:,} sensitive {_cells(bad)}, so they are not called safe; {why}"
        if STEPS in note:
            text = f"{bad:,} sensitive {_cells(bad)} cannot be called safe: {note[note.index(STEPS) :]}"
        text = f"of {bad:,} sensitive {_cells(bad)}, {TIED}" if tied else text
        wrong = known.state == STATES.index("unfinished")
        checks.append(_counted("unfinished", text, wrong, evidence, "", f"{_many(bad)} not audited"))
    return checks


def _counted(name: str, text: str, wrong: BoolArray, evidence: Evidence, reader: str, brief: str) -> Check:
    """Return a check that every sensitive cell must pass."""
    bad = int(wrong.sum())
    return Check(name, not bad, text, bad, 0, _worst(wrong, evidence), reader, brief)


def _lines(case: Case, evidence: Evidence) -> list[Check]:
    """Check that no cell that holds everybody on a line, or all but a few, is known exactly or seen to hold them."""
    if not case.asks_lines:
        return []
    coalition, lines, known = case.policy.rules.group_disclosure, evidence.lines, evidence.known
    who = "everybody" if not coalition else f"all but at most {coalition} people"
    if lines is None:
        text = (
            f"whether a line has {who} in one cell was not judged: weighted figures do not say how many people few are"
        )
        return [Check("lines", False, text, brief="lines with nearly everybody in one cell were not judged")]
    full = case.full_lines
    full = np.zeros(known.cell.size, bool) if full is None else full[known.cell]
    wrong = full & ((known.state <= STATES.index("determined")) | lines.cells)
    n, bad = int(full.sum()), int(wrong.sum())
    text = f"no row, column or other line of the table has {who} in one cell"
    if n == 1:
        seen = "readers see that it does" if lines.cells[full].any() else "it is known exactly"
        text = f"1 cell holds {who} in its line; {seen if bad else 'it is not known exactly, nor seen to do so'}"
    elif n:
        text = f"{n:,} cells each hold {who} in a line; {_some(bad, n)} known exactly, or seen to do so"
    if lines.others:
        more = f" and {len(lines.others) - 1:,} more" if len(lines.others) > 1 else ""
        seen = f"readers see that {lines.others[0]}{more}, as published, holds {who} in its line"
        text = f"{text}; {seen}" if n else seen
    if lines.unfinished:
        late = f"whether {who} of a line is in one cell could not be judged in time; give more time"
        text = f"{text}; {late}" if n or lines.others else late
    count = bad + len(lines.others)
    brief = f"{count:,} {'line has its' if count == 1 else 'lines have their'} people in one cell"
    brief = brief if count else "not all lines were judged in time"
    passed = not count and not lines.unfinished
    return [Check("lines", passed, text, count, 0, _worst(wrong, evidence), evidence.reader, brief)]


def _limits(case: Case, evidence: Evidence) -> list[Check]:
    """Check intervals and risk of every sensitive cell that is not already known."""
    known, limits, reader = evidence.known, case.policy.limits, evidence.reader
    checks = []
    if limits.width is not None:
        wrong = known.wrong("width")
        least = min(float(known.width.min()), known.rivals.width)
        narrow = amount(least) if np.isfinite(least) else "unbounded"
        text = f"the narrowest interval of a cell that is sensitive, or may be as far as readers see, is {narrow}"
        kept = not wrong.any() and "width" not in known.rivals.broken
        text += f" wide to {READERS[reader]}, {'at least' if kept else 'less than'} the least width of {limits.width:g}"
        brief = f"an interval {least:g} wide is below {limits.width:g}"
        checks.append(Check("width", kept, text, least, limits.width, _worst(wrong, evidence), reader, brief))
    if limits.dr is not None:
        checks.append(_risk(case, limits.dr, evidence))
    if case.wants_levels:
        wrong = known.wrong("lower", "upper", "sliding")
        bad, n = int(wrong.sum()), wrong.size
        text = f"the intervals of {_part(bad, n)} sensitive {_cells(n)} fall short of their protection levels"
        if not bad:
            text = f"the intervals of all {n:,} sensitive cells reach their protection levels"
            text = "the interval of the sensitive cell reaches its protection levels" if n == 1 else text
        brief = f"{_many(bad, 'misses its', 'miss their')} protection levels"
        checks.append(_counted("levels", f"{text} to {READERS[reader]}", wrong, evidence, reader, brief))
    return checks


def _risk(case: Case, limit: float, evidence: Evidence) -> Check:
    """Check the largest 1/H of a sensitive cell; a risk that is not shown does not pass."""
    known, magnitudes = evidence.known, case.subject.magnitudes
    reader = "figures" if magnitudes else "method"
    dark = np.isnan(known.bits)
    wrong = ~case.policy.limits.of_figures.shown(known.bits)
    kept = not wrong.any() and "dr" not in known.rivals.broken
    n = wrong.size
    worst = float(np.nanmax([*np.where(dark, 0.0, known.dr), known.rivals.dr]))
    shown = at_most(worst) if np.isfinite(worst) else "unbounded, as its value is known"
    about = "at most " if known.bound.any() and np.isfinite(worst) else ""
    who = READERS[reader] + (", all values of an interval equally likely," if magnitudes else "")
    text = f"the largest disclosure risk 1/H of a sensitive cell to {who} is {about}{shown}; the limit is {limit:g}"
    if known.rivals.dr > max(limit, float(np.where(dark, 0.0, known.dr).max())):
        text = text.replace("of a sensitive cell", "of a cell that may be sensitive as far as readers see")
    brief = f"a disclosure risk of {shown} is above {limit:g}"
    brief = brief if np.isfinite(worst) else "the disclosure risk is unbounded, as a value is known"
    if not kept and worst <= limit:
        text = (
            f"the disclosure risk 1/H of {_part(int(dark.sum()), n)} sensitive {_cells(n)} to {who} cannot be shown: "
            f"{_why_not(evidence)}; the limit is {limit:g}"
        )
        brief, worst = "the disclosure risk cannot be shown", np.inf
    return Check("dr", kept, text, worst, limit, _worst(wrong, evidence), reader, brief)


def _why_not(evidence: Evidence) -> str:
    """Say why the disclosure risk to a reader who knows the method cannot be shown."""
    if evidence.told:
        return (
            "whether a release passes depends on the true counts here (the limit on R2, a protection tried before, the "
            "reason for protecting the table, or that somebody is in it), and passing reveals more than the figures do"
        )
    return (
        f"{evidence.release.method} decides on all cells together, published sums tie too many figures to count what "
        "fits, or being protected tells which cell is small"
    )


def _many(number: int, one: str = "is", several: str = "are") -> str:
    return f"{number:,} sensitive {_cells(number)} {one if number == 1 else several}"


def _part(number: int, of: int) -> str:
    if number == of == 1:
        return "the only"
    return f"none of the {of:,}" if not number else f"{number:,} of the {of:,}"


def _cells(number: int) -> str:
    return "cell" if number == 1 else "cells"


def _worst(wrong: BoolArray, evidence: Evidence) -> tuple[int, ...]:
    """Return the cells at fault as numbers of sensitive cells, the worst first."""
    order = evidence.known.worst()
    return tuple(order[wrong[order]].tolist())


def _some(number: int, of: int) -> str:
    if number == 0:
        return "none of them is"
    return f"{number:,} of {of:,} {'is' if number == 1 else 'are'}"


def failed(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Return the checks that a release does not pass."""
    return tuple(one for one in checks if not one.passed)
