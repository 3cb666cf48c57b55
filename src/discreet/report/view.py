"""What a page shows of an assessment or a comparison: every text and figure, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.core.errors import with_options, without_remedies
from discreet.core.json_types import JsonObject
from discreet.report.bars import SHOWN, TERMS, charts_of, whole
from discreet.report.cells import LISTED, listed, packed, panel_rows, stated_once
from discreet.report.heat_map_pages import PagedTable, details_of, paged_tables
from discreet.report.numbers import amount, capital, measure
from discreet.report.paragraphs import AS_IT_IS, paragraphs, quality
from discreet.report.provenance_rows import made_blocks
from discreet.report.riskmap import map_of, rows_of, taken_of
from discreet.report.scale import STEPS

VERDICTS = {
    "release": ("Release as it is", "M6.5 12.5l3.7 3.7 7.3-8"),
    "protect": ("Release after protection", "M12 5.5l5.5 2v4.2c0 3.4-2.3 5.8-5.5 7-3.2-1.2-5.5-3.6-5.5-7V7.5z"),
    "withhold": ("Do not release", "M8 8l8 8m0-8l-8 8"),
}
"""What each verdict says, and the sign beside it."""
CONFIDENTIAL = "CONFIDENTIAL – internal edition"
PUBLIC = "Public edition"
WORDS = {
    "R1, R2": "The risk of the table before and after protection, between 0 and 1: what empty cells, people in few "
    "cells, and small size give away together.",
    "Sensitive": "A cell that a rule of the policy does not allow to be published as it is.",
    "A reader knows": "The smallest and the largest value that fit everything published. It is worked out by "
    "arithmetic on published figures alone; the proof names them.",
    "DR": "Disclosure risk of a cell, 1/H, where H is what is left to guess in bits: 1 if two values are possible, "
    "0.5 if four are, infinite if the value is known.",
    "Utility": "How much of the original is kept, from 0 to 1: 1 less the Hellinger distance of the published counts "
    "from the true ones, over the root of their number.",
}
"""Words that the page explains."""
SIGNED = {"author": "", "date": ""}
"""A line to write on, if author and date are not given."""
OTHER_COUNT = re.compile(r"(?<=\d) of [\d,]+(?= inner cells changed)")
"""The number of inner cells, of which some protections publish no sums: not the one of the headline."""
LOSSES = {
    "utility": ("Utility, 1 − HD/√N", 4),
    "hellinger": ("Hellinger distance on counts", 4),
    "mean_absolute_error": ("Mean error of a figure", 3),
    "mean_squared_error": ("Mean squared error", 3),
    "kl": ("Kullback–Leibler divergence", 5),
}
"""Measures of information loss, what they are called, and their decimals."""


def view_of(data: JsonObject) -> JsonObject:
    """Return everything that the template shows of one edition."""
    internal = data["edition"] == "internal"
    details = details_of(data)
    grids = paged_tables(data, details)
    charts = charts_of(data)
    comparison = data["kind"] == "comparison"
    record = data.get("record") or {}
    worst, proofs = stated_once(listed(details, internal))
    view: JsonObject = {
        "kind": data["kind"],
        "internal": internal,
        "title": data["name"],
        "subject": "comparison of protections" if comparison else "disclosure assessment",
        "headline": _headline(data),
        "mark": CONFIDENTIAL if internal else PUBLIC,
        # It appears between quotes in a style sheet.
        "running": "".join(c if c.isalnum() or c in " .,-_()" else " " for c in data["name"])[:60],
        "version": (record.get("versions") or {}).get("discreet", ""),
        "results_hash": record.get("results_sha256", ""),
        "verdict": _verdict(data, internal),
        "checks": [{**c, "text": capital(c["text"])} for c in data.get("checks", ())] if internal else [],
        "figures": _compared(data) if comparison else _figures(data, grids, internal),
        "grids": grids,
        "steps": [{"number": k, "name": step.name, "meaning": step.meaning} for k, step in enumerate(STEPS)],
        "details": packed(panel_rows(details, internal, _levels(data))) if details.rows and grids else "",
        "table_lead": _table_lead(data, internal, bool(details.rows)),
        "worst": worst,
        "proofs": proofs,
        "told": bool(internal or details.rows),
        "worst_title": "The cells that matter most" if internal else "What can be worked out",
        "worst_lead": _worst_lead(data, internal, len(details.rows)),
        "charts": charts,
        "charts_lead": _charts_lead(data),
        "shown": SHOWN,
        "terms": TERMS,
        "with_terms": any(len(s.bar.terms) > 1 for c in charts for s in c.slices),
        "untold": any(grid.untold for grid in grids),
        "whole": whole(data),
        "map": map_of(data) if internal else None,
        "rows": rows_of(data) if comparison else (),
        "loss": _loss(data.get("utility") or {}),
        "loss_sentence": _loss_sentence(data),
        "tried": _tried(data),
        "estimates": _estimates(data.get("sample")),
        "made": made_blocks(data),
        "paragraphs": paragraphs(data),
        "signed": data.get("signed", SIGNED) if internal else None,
    }
    return {**view, "words": _words(view), "sections": _sections(view)}


def _headline(data: JsonObject) -> str:
    """Return the headline of the table, with the one number of cells that every share on the page refers to."""
    table, rules = data.get("table") or {}, data.get("rules")
    if data["kind"] == "comparison" or not table or not rules:
        return str(data.get("headline") or table.get("headline", ""))
    sizes = [(d["name"], sum(label != table["total"] for label in d["labels"])) for d in table["dimensions"]]
    shape = " × ".join(f"{name} ({size:,})" for name, size in sizes)
    what = f"{table['response']} by {shape}" if table.get("response") else f"{shape}: N = {amount(table['people'])}"
    return f"{what}; {amount(sum(rules['statuses'].values()))} cells and totals"


def _loss_sentence(data: Mapping[str, object]) -> str:
    """Return what was done, without a second number of cells besides that of the headline."""
    return OTHER_COUNT.sub("", _said(data, "protection") or _said(data, "utility"))


def _said(data: JsonObject, part: str) -> str:
    return without_remedies(str((data.get(part) or {}).get("sentence", "")))


def _levels(data: JsonObject) -> bool:
    """Say whether the policy asks intervals to reach the levels of the rules."""
    wanted = (data.get("policy") or {}).get("limits", {}).get("levels", "never")
    return wanted == "always" or (wanted == "magnitudes" and bool((data.get("table") or {}).get("magnitudes")))


def _verdict(data: JsonObject, internal: bool) -> dict[str, str]:
    text = with_options(data.get("sentence", ""))
    if data["kind"] == "comparison":
        text = without_remedies(data.get("sentence", ""))
        best = None if data["recommended"] is None else data["points"][data["recommended"]]
        key = "withhold" if best is None else "release" if best["method"] == "none" else "protect"
        phrase = "No method meets the policy" if best is None else f"Take {best['title']}"
    elif internal:
        key = data["verdict"]
        phrase = VERDICTS[key][0]
    else:
        key = "release"
        phrase = "Published as it is" if data["release"]["method"] in AS_IT_IS else "Published after protection"
        text = f"{quality(data['release'])} This edition is made of what is published and of nothing else."
    return {"key": key, "phrase": phrase, "text": text, "path": VERDICTS[key][1]}


def _method(data: JsonObject) -> str:
    release = data["release"]
    # What is a word and no number is said where the release is described.
    given = {name: value for name, value in release["parameters"].items() if isinstance(value, int | float)}
    parts = [f"{name.replace('_', ' ')} {value}" for name, value in given.items() if not isinstance(value, bool)]
    return ", ".join([release["method"], *parts])


def _compared(data: JsonObject) -> list[dict[str, str]]:
    """Return the key figures of methods."""
    points = data["points"]
    # The table as it is stands beside them and is no protection.
    fit = sum(point["meets"] for point in points[1:])
    found = [_figure("Protections compared", amount(len(points) - 1)), _figure("Meet the policy", amount(fit))]
    chosen = {} if data["recommended"] is None else points[data["recommended"]]
    kept = [(name, chosen[key]) for name, key in (("Utility kept", "utility"), ("Risk R2", "r2")) if chosen.get(key)]
    return [*found, *(_figure(name, measure(one["mean"]), "of the one to take") for name, one in kept)]


def _figures(data: JsonObject, grids: list[PagedTable], internal: bool) -> list[dict[str, str]]:
    """Return the key figures of a table."""
    shown = sum(grid.figures for grid in grids)
    hidden = sum(grid.hidden for grid in grids)
    public = [_figure("Figures published", amount(shown - hidden)), _figure("Figures hidden", amount(hidden))]
    if not internal:
        return public
    found = []
    before, after = data.get("before"), data.get("after")
    if before is not None:
        found.append(_figure("Risk before, R1", measure(before["value"]), f"driven by {before['driver']}"))
    if after is not None:
        merged = after.get("merged")
        note = "" if merged is None else f"on merged categories, where R1 is {measure(merged)}"
        found.append(_figure("Risk after, R2", measure(after["value"]), note))
    if (sample := data.get("sample")) is not None:
        found.append(_figure("Estimated risk, R2", measure(sample["risk"]["mean"])))
        found.append(_figure("Sample uniques", amount(sample["uniques"]["sample_uniques"])))
        found.append(_figure("Expected population uniques, τ̃", f"{sample['tau']:.4g}"))
    if (utility := (data.get("utility") or {}).get("utility")) is not None:
        found.append(_figure("Utility kept", measure(utility)))
    for one in data.get("statistics", ()):
        far = f"{one['error']:.2g} from the truth on average" if one["error"] else ""
        found.append(_figure(f"{one['name']} published", f"{amount(one['shown'])} of {amount(one['wanted'])}", far))
    if (rules := data.get("rules")) is not None:
        known = sum(row["state"] in ("exact", "determined") for row in data["cells"])
        sensitive = rules["statuses"]["sensitive"]
        # The data hold the worst cells only; if all of these are known, there may be more.
        more = " or more" if len(data["cells"]) == known < sensitive else ""
        found.append(_figure("Sensitive cells", amount(sensitive), f"{amount(known)}{more} known exactly"))
    if hidden:
        found.append(_figure("Figures hidden", amount(hidden)))
    return found


def _figure(name: str, value: str, note: str = "") -> dict[str, str]:
    return {"name": name, "value": value, "note": note}


def _table_lead(data: JsonObject, internal: bool, known: bool) -> str:
    if data["kind"] == "comparison" or not data.get("release"):
        return ""
    made = "" if not internal or data["release"]["method"] in AS_IT_IS else f" ({_method(data)})"
    text = f"The figures as they {'would be' if internal else 'are'} published{made}."
    if not internal and not known:
        return f"{text} Hidden figures are ×."
    text += " The stronger the colour, the fewer values a cell can have."
    return f"{text} A corner marks the cells that the rules call sensitive." if internal else text


def _worst_lead(data: JsonObject, internal: bool, found: int) -> str:
    if internal:
        sensitive = (data.get("rules") or {}).get("statuses", {}).get("sensitive", found)
        shown = min(LISTED, sum("state" in row for row in data.get("cells", ())))
        return f"{amount(shown)} of {amount(sensitive)} sensitive cells, the best known first."
    return "The figures of which most is known, and how that follows from what is published."


def _charts_lead(data: Mapping[str, object]) -> str:
    text = "The risk of every slice of the table."
    if data.get("after") and data.get("before"):
        text = "R2 of every slice after protection; the thin bar above it is R1 before."
    return f"{text} {_said(data, 'after' if data.get('after') else 'before')}".strip()


def _loss(found: JsonObject) -> list[tuple[str, str]]:
    rows = [(name, measure(found[key], digits)) for key, (name, digits) in LOSSES.items() if found.get(key) is not None]
    for pair in found.get("cramers_v") or ():
        change = f"{measure(pair['before'])} → {measure(pair['after'])}"
        rows.append((f"Cramér's V, {' × '.join(pair['dimensions'])}", change))
    return rows


def _tried(data: JsonObject) -> list[JsonObject]:
    taken = taken_of(data)
    return [
        {
            **{key: row[key] for key in ("title", "meets", "text")},
            **{key: measure(row[key]) for key in ("utility", "r2")},
            "taken": number == taken,
            "judged": not row["text"].startswith("not tried"),
        }
        for number, row in enumerate(data.get("candidates", ()), 1)
    ]


def _estimates(sample: JsonObject | None) -> list[tuple[str, str]]:
    if sample is None:
        return []
    risk = sample["risk"]
    models = [
        (name, "; ".join(text for text in (f"R2 {r2}" if r2 else "", f"population uniques {tau}", fit) if text))
        for name, r2, tau, fit in sample["side_by_side"]
    ]
    return [
        ("Estimated R2, the worst that the data do not reject", f"{measure(risk['mean'])} ({sample['worst_model']})"),
        ("Model error, half the distance between the models", measure(sample["model_error"])),
        ("Monte Carlo error", measure(risk["mc_error"], 5)),
        ("Standard deviation over populations", measure(risk["sd"])),
        ("Sample uniques", amount(sample["uniques"]["sample_uniques"])),
        *models,
    ]


def _words(view: Mapping[str, object]) -> list[tuple[str, str]]:
    keep = {
        "R1, R2": bool(view["charts"] or view["rows"]) and view["internal"],
        "Sensitive": view["internal"],
        "A reader knows": bool(view["grids"]) and view["told"],
        "DR": bool((view["grids"] and view["told"]) or view["rows"]),
        "Utility": bool(view["loss"] or view["rows"]) and view["internal"],
    }
    return [(word, meaning) for word, meaning in WORDS.items() if keep[word]]


def _sections(view: Mapping[str, object]) -> list[tuple[str, str]]:
    every = [
        ("verdict", "Verdict", True),
        ("map", "Map", view["kind"] == "comparison"),
        ("methods", "Methods", view["kind"] == "comparison"),
        ("table", "Table", view["grids"]),
        ("cells", "Cells", view["worst"]),
        ("slices", "Slices", view["charts"]),
        ("cost", "Cost", view["loss"] or view["tried"]),
        ("estimates", "Estimates", view["estimates"]),
        ("texts", "Texts to copy", view["paragraphs"]),
        ("made", "How it was made", True),
        ("sign", "Sign", view["signed"]),
    ]
    return [(anchor, name) for anchor, name, there in every if there]
