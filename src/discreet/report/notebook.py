"""A compact face for notebooks: verdict, figures and heat map, in HTML that carries its own styles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.report.edition import edition_of
from discreet.report.html import environment, source
from discreet.report.view import view_of


def notebook(data: Mapping[str, Any]) -> str:
    """Return a compact HTML face of an assessment or a comparison, for people who work with the original."""
    from markupsafe import Markup

    view = view_of(edition_of(data, "internal"))
    # Styles must not reach the rest of the notebook, and the page's own must not reach these.
    template = environment().get_template("notebook.html.j2")
    return template.render(view=view, css=Markup(source("notebook.css")))
