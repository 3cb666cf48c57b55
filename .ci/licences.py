"""Lists what discreet needs, directly and through others, with versions and licences: python .ci/licences.py."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, metadata


def needed(name: str, found: dict[str, str]) -> dict[str, str]:
    """Add a package and all that it needs to the licences found."""
    for text in distribution(name).requires or []:
        other = re.split(r"[ ;<>=!~\[(]", text, maxsplit=1)[0].lower().replace("_", "-")
        if "extra ==" not in text and other not in found:
            try:
                found[other] = licence(other)
            except PackageNotFoundError:
                continue  # Needed on other machines only.
            needed(other, found)
    return found


def licence(name: str) -> str:
    """Return the licence that a package states."""
    about = metadata(name)
    stated = about.get("License-Expression") or (about.get("License") or "").strip().splitlines()[:1]
    classified = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or [] if one.startswith("License")]
    text = stated if isinstance(stated, str) else " ".join(stated)
    return text if 0 < len(text) < 60 else ", ".join(classified) or text[:60] or "not stated"


def main() -> None:
    """Print a line for each package."""
    for name, text in sorted(needed("discreet", {}).items()):
        print(f"{name:24} {distribution(name).version:14} {text}")


if __name__ == "__main__":
    main()
