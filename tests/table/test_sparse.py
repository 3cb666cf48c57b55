"""A sparse table costs what its non-empty cells cost."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# The peak is that of the process itself: what getrusage reports starts with the memory of the process that forked it.
SCRIPT = """
import json, re, time
from pathlib import Path
import numpy as np, pyarrow as pa
import discreet as dc

rng = np.random.default_rng(1)
shape, filled = {shape}, {filled}
cells = np.sort(rng.choice(int(np.prod(shape)), filled, replace=False))
codes = np.unravel_index(cells, shape)
columns = {{
    f"d{{axis}}": pa.DictionaryArray.from_arrays(
        pa.array(code.astype(np.int32)), pa.array([f"label {{i}}" for i in range(length)])
    )
    for axis, (code, length) in enumerate(zip(codes, shape))
}}
columns["count"] = rng.integers(1, 20, filled)
table = dc.Table.from_frame(pa.table(columns))
before = dc.risk(table)
release = dc.protect.random_rounding(table, 3, seed=1)
after = dc.risk(table, release)
loss = dc.information_loss(table, release)
print(json.dumps({{
    "peak": int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1)) * 1024,
    "size": table.size, "filled": int(table.cells.size), "people": table.total, "given": int(columns["count"].sum()),
    "slices": sum(map(len, before.slices)), "r1": before.value, "r2": after.value, "zeros": before.terms["zeros"],
    "hellinger": loss.hellinger,
}}))
"""


@pytest.mark.parametrize(
    ("shape", "filled"),
    [
        ((10_000, 10_000), 10**6),
        ((100, 100, 100, 100), 10**5),
        pytest.param((100, 100, 100, 100), 10**6, marks=pytest.mark.long),
    ],
)
def test_a_hundred_million_cells_of_which_few_are_filled(shape: tuple[int, ...], filled: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(shape=shape, filled=filled)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["size"], found["filled"], found["people"]) == (10**8, filled, found["given"])
    assert found["slices"] == sum(shape)
    assert found["zeros"] == pytest.approx(0.1 * (1 - filled / 10**8))
    assert 0 < found["r2"] < found["r1"] < 1
    assert found["hellinger"] > 0
    assert found["peak"] < 2**30
