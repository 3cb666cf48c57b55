"""The report as one self-contained HTML file, and a compact view for notebooks with its own styles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from discreet.core.json_types import JsonObject
from discreet.report.cells import LISTED
from discreet.report.edition import edition_of
from discreet.report.heat_map_pages import details_of, paged_tables
from discreet.report.paragraphs import MADE
from discreet.report.scale import STEPS
from discreet.report.view import WORDS, view_of

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = ("report.html.j2", "parts.html.j2", "notebook.html.j2")


@cache
def source(name: str) -> str:
    """Return a template, style sheet or script."""
    return files("discreet.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Return the templates; they escape every text that they show, and a name that is not given is an error."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    return Environment(
        loader=DictLoader({name: source(name) for name in TEMPLATES}),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def html_report(data: Mapping[str, object]) -> str:
    """Return the report on one edition's data."""
    return _rendered("report.html.j2", view_of(data), css="style.css", js="script.js")


def notebook(data: Mapping[str, object]) -> str:
    """Return a compact HTML view of an assessment or a comparison, for people who work with the original."""
    return _rendered("notebook.html.j2", view_of(edition_of(data, "internal")), css="notebook.css")


def _rendered(template: str, view: Mapping[str, object], **sources: str) -> str:
    from markupsafe import Markup

    texts = {name: Markup(source(file)) for name, file in sources.items()}
    return environment().get_template(template).render(view=view, **texts)


def fixed_text(data: JsonObject) -> list[str]:
    """Return the fixed text of reports: headings, explanations, and how many figures and parts there are."""
    texts = [*map(source, TEMPLATES), *WORDS.values(), *MADE.values()]
    texts += [f"{step.name} {step.meaning}" for step in STEPS]
    details = details_of(data)
    for grid in paged_tables(data, details):
        shown = grid.figures - grid.hidden
        texts += [f"{grid.figures} {grid.hidden} {shown} {grid.left} {len(grid.pages)}", *(p.part for p in grid.pages)]
    figures = (data.get("release") or {}).get("figures", ())
    texts.append(f"{sum(len(part['values']) for part in figures)} {min(len(details.rows), LISTED)} {data['schema']}")
    return texts
