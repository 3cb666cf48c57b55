"""Two texts ready to copy: one for the quality report, one for respondents.

Both are made of what is published and of nothing else, so they may stand beside the table.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.json_types import JsonObject
from discreet.table.kinds import EXACT

AS_IT_IS = ("none", "as published")
"""Methods that change nothing."""
MADE = {
    "suppress": "Figures that would disclose too much were suppressed, together with others from which these could be "
    "worked out",
    "conventional-rounding": "Figures were rounded to the nearest multiple of {base}",
    "random-rounding": "Figures were rounded at random to a neighbouring multiple of {base}",
    "semi-controlled-rounding": "Figures were rounded to a neighbouring multiple of {base}, in such a way that chosen "
    "totals stay close to the true ones",
    "controlled-rounding": "Figures were rounded to a neighbouring multiple of {base}, in such a way that rounded "
    "figures still add up to the rounded totals",
    "small-count-rounding": "Counts below {base} were rounded to 0 or {base}, and totals are the sums of what is "
    "published",
    "hide-and-round": "Counts from 1 to {limit} were hidden, and all others rounded to the nearest multiple of {base}",
    "cell-key": "Random noise of at most {bound} was added to the counts by the cell-key method",
    "redesign": "Categories were merged, so that the table reveals less",
    "chain": "Figures were protected in several steps, one after the other",
    "tabular-adjustment": "Sensitive figures were moved away from their true values, and others slightly, to keep the "
    "totals",
}
"""What each method did, in words for readers of the table; a method that is not here is called by its name."""
CHANGED = "Published figures therefore differ slightly from the true ones."
READER = (
    "The table was assessed before publication: no figure that the rules protect can be worked out exactly from what "
    "is published."
)


def paragraphs(data: JsonObject) -> list[tuple[str, str]]:
    """Return the texts with their titles; none where nothing is to be published, or for a trial."""
    release = data.get("release")
    if data["kind"] != "assessment" or release is None or data["verdict"] == "withhold" or data.get("trial"):
        return []
    return [("For the quality report", quality(release)), ("For respondents", respondents(release))]


def quality(release: Mapping[str, object]) -> str:
    """Return how a release was protected, in three or four sentences."""
    if release["method"] in AS_IT_IS:
        return f"Statistical disclosure control: the table is published as it is. {READER}"
    hidden, shown = _phrases(release)
    texts = [f"Statistical disclosure control: {_made(release)}."]
    if shown == [EXACT.phrase]:
        texts.append("All published figures are exact." if hidden else "")
    elif shown:
        texts.append(CHANGED)
    texts += [f"A suppressed figure is {rest}." for phrase in hidden if (rest := phrase.partition(", ")[2])]
    return " ".join(text for text in [*texts, READER] if text)


def respondents(release: Mapping[str, object]) -> str:
    """Return the text for people and firms in the table."""
    hidden, shown = _phrases(release)
    texts = ["Your answers stay with us: we publish tables, not answers."]
    if release["method"] not in AS_IT_IS:
        if hidden:
            texts.append(
                "Where a figure would reveal too much about a person or a firm, we leave it out. We also leave out "
                "other figures from which it could be worked out."
            )
        if shown and shown != [EXACT.phrase]:
            texts.append("Figures are changed a little, so a small number does not show how many there really are.")
        if release["method"] == "redesign":
            texts.append("Small groups are shown together with others.")
    texts.append(
        "Before publication we checked that no figure our rules protect can be worked out exactly from what is "
        "published."
    )
    return " ".join(texts)


def _phrases(release: JsonObject) -> tuple[list[str], list[str]]:
    """Return what is said of the figures that are hidden, and of those that are shown."""
    found: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for part in release["figures"]:
        for kind in dict.fromkeys(part["kind"]):
            found[bool(part["hides"][kind])][part["kinds"][kind]] = None
    return list(found[True]), list(found[False])


def _made(release: JsonObject) -> str:
    text = MADE.get(release["method"], f"the table was protected by {release['method'].replace('-', ' ')}")
    made = text.format_map(release["parameters"])
    return made[:1].lower() + made[1:]
