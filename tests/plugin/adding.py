"""Packages as an installer leaves them: a module, and metadata that names its entry points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(folder: Path, name: str, points: Mapping[str, Mapping[str, str]], source: str = "") -> Path:
    """Write a package of one module into a folder that is to be put on the path."""
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [
        line for group, found in points.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in found.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder
