"""Messages of everything below the command line name arguments; options stand beside them only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import discreet
from discreet.core.errors import BOTH

ROOT = Path(discreet.__file__).parent
OWN = ("cli", "workbench")
"""The command line, and what runs its commands."""


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the constant parts of what an error is raised with, those of one message together."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)  # type: ignore[misc]
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from _texts(side)


def _messages() -> Iterator[tuple[str, str]]:
    for file in sorted(ROOT.rglob("*.py")):
        if file.relative_to(ROOT).parts[0] in OWN:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Error"):
                for text in (text for one in node.args for text in _texts(one)):
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", text


def test_no_message_names_an_option_alone() -> None:
    found = list(_messages())
    assert len(found) > 500
    commands = re.compile(r"\(discreet [^()]*\)")
    alone = [(where, text) for where, text in found if "--" in commands.sub("", BOTH.sub("", text))]
    assert not alone, "\n".join(f"{where}: {text}" for where, text in alone)
