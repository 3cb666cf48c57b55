"""Run every benchmark and write RESULTS.md."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from discreet.core.files import write_text

BENCHMARKS = (
    "start",
    "replay",
    "tables",
    "uniques",
    "tabulation",
    "audit",
    "percentages",
    "rounding",
    "cell_key",
    "simulation",
    "suppression",
    "assess",
    "workbench",
)
HEAD = """# Benchmark results

Times are the best of a few, taken in turn in one run on a shared machine; read the ratios. `make bench` writes this
file.
"""


def main() -> None:
    results = Path(__file__).resolve().parent / "RESULTS.md"
    sections = [HEAD.strip()]
    for name in sys.argv[1:] or BENCHMARKS:
        print(f"== {name}", file=sys.stderr, flush=True)
        sections.append(importlib.import_module(name).main())
        print(sections[-1], flush=True)
        if not sys.argv[1:]:
            # After every part: what was measured is kept if a later part is stopped.
            write_text(results, "\n\n".join(sections) + "\n")


if __name__ == "__main__":
    main()
