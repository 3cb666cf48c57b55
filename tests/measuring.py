"""Coverage of lines and branches: SlipCover rewrites the package as it is imported, and drops a line once seen.

A process measures itself if ``DISCREET_COVERAGE`` names a folder, and leaves there what it has seen. Run as a program,
this file puts together what the processes of a run have seen, lists what none has, and fails below 95%:

    DISCREET_COVERAGE=build/coverage pytest
    python tests/measuring.py report build/coverage

Given other arguments, it runs ``discreet`` with them and measures the workbench.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

VARIABLE = "DISCREET_COVERAGE"
SOURCE = Path(__file__).parents[1] / "src"
LEAST = 95.0
"""The least share of lines and branches that tests must run, in per cent."""
AGAIN = 1_000
"""How often a line is seen once more before the marks of all that was seen are taken out. That looks through every
function there is: 33 times at 50, SlipCover's choice, in 144 tests of decisions (2.1 seconds), 8 times at 1,000 (0.7).
"""
LEFT_OUT = [
    "@compiled",  # machine code cannot be followed; slow twins in the tests are compared with it
    r"^\s*\.\.\.$",  # protocols
]


def measure(part: str = "") -> Callable[[], None]:
    """Measure what this process runs of the package, or of a part of it, from now on, if it is asked to.

    Call what is returned at the end.
    """
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return lambda: None
    assert "discreet" not in sys.modules, "what is imported already cannot be measured"
    import slipcover

    measured = slipcover.Slipcover(branch=True, d_miss_threshold=AGAIN)
    slipcover.ImportManager(measured, slipcover.FileMatcher(sources=[SOURCE / "discreet" / part])).__enter__()

    if not part:  # what no other process and no compiler is given needs no more
        _send_as_written("cloudpickle", "pyspark.cloudpickle")
        _compile_as_written()
    return partial(_leave, measured, Path(folder).resolve(), os.getpid())


def _compile_as_written() -> None:
    """Hand kernels to the compiler without marks."""
    from discreet.core import compiled

    begin: Callable[..., None] = compiled.Kernel.__init__

    def begin_as_written(self: Any, function: Any) -> None:
        function.__code__ = _as_written(function.__code__)
        begin(self, function)

    setattr(compiled.Kernel, "__init__", begin_as_written)  # noqa: B010 (a method is replaced)


def _send_as_written(*names: str) -> None:
    """Have functions sent to other processes, by way of Dask and Spark, without marks: these stay in this process."""
    for name in names:
        known = import_module(name).Pickler._dispatch_table
        reduce = known[CodeType]
        known[CodeType] = lambda code, reduce=reduce: reduce(_as_written(code))


def _as_written(code: CodeType) -> CodeType:
    """Return the code of a function without the marks that it has if it is one of the package."""
    if not Path(code.co_filename).is_relative_to(SOURCE):
        return code
    return _codes(code.co_filename)[code.co_qualname, code.co_firstlineno]


@cache
def _codes(file: str) -> dict[tuple[str, int], CodeType]:
    """Return the code of each function of a file as it is written, by name and first line."""
    found = {}
    todo = [compile(Path(file).read_bytes(), file, "exec")]
    while todo:
        code = todo.pop()
        found[code.co_qualname, code.co_firstlineno] = code
        todo.extend(part for part in code.co_consts if isinstance(part, CodeType))
    return found


def workbench() -> list[str]:
    """Return how a workbench is started: measured if this process is. What it runs, other tests run in this one."""
    if VARIABLE in os.environ:
        return [sys.executable, __file__, "workbench"]
    return [str(Path(sys.executable).with_name("discreet")), "workbench"]


def _leave(measured: Any, folder: Path, process: int) -> None:
    """Write down the lines and branches that this process has seen."""
    if os.getpid() != process:
        return  # forked from the one that was to be measured
    seen: dict[str, set[object]] = defaultdict(set)
    for part in (measured.all_seen, measured.newly_seen):
        for file, lines in part.items():
            seen[file] |= lines
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({file: sorted(lines, key=str) for file, lines in seen.items()})
    (folder / f"{process}.json").write_text(text, encoding="utf-8")


def report(folder: Path) -> int:
    """Print what no process of a run has seen; 1 if that is too much."""
    import slipcover

    whole = slipcover.Slipcover(branch=True, source=[str(SOURCE)], exclude_also=LEFT_OUT)
    for file in folder.glob("*.json"):
        for name, seen in json.loads(file.read_text(encoding="utf-8")).items():
            whole.all_seen[name].update(tuple(part) if isinstance(part, list) else part for part in seen)
    found = whole.get_coverage()
    slipcover.print_coverage(found, outfile=sys.stdout, skip_covered=True)
    share = found["summary"]["percent_covered"]
    print(f"Tests run {share:.1f}% of lines and branches; {LEAST:.0f}% is asked for.")
    return int(share < LEAST)


if __name__ == "__main__":
    del sys.path[0]  # the folder of the tests
    if sys.argv[1:2] == ["report"]:
        sys.exit(report(Path(sys.argv[2])))
    atexit.register(measure("workbench"))
    from discreet.cli import main

    main()
