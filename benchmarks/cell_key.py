"""Cell-key perturbation: noise at memory speed, and tables of ten million records against cell-key-perturbation."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from _tools import best, growing, in_turn, machine
from discreet.protect.cell_key import CellKey, KeyedTable, PTable, design_ptable, record_keys
from discreet.protect.cell_key.key_noise import perturb

CELLS = RECORDS = 10_000_000
KEYS = 256
"""The peer's perturbation tables have 256 keys."""
NAMES = {"region": 40, "activity": 30, "size": 8}
SECRET = "benchmark of keyed hashes"


def records(rows: int) -> pa.Table:
    """People with three classifications as texts and a record key."""
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    for name, size in NAMES.items():
        labels = pa.array([f"{name[0].upper()}{i:02d}" for i in range(size)])
        codes = pa.array(rng.integers(0, size, rows).astype(np.int32))
        columns[name] = pa.DictionaryArray.from_arrays(codes, labels).dictionary_decode()
    columns["id"] = np.arange(rows)
    columns["key"] = rng.integers(0, KEYS, rows)
    return pa.table(columns)


def for_the_peer(ptable: PTable) -> Any:
    """The same perturbation table as the peer wants it: a noise for each count up to 750 and each key."""
    import pandas as pd

    counts, keys = np.repeat(np.arange(1, 751), KEYS), np.tile(np.arange(KEYS), 750)
    noise = perturb(counts, keys, ptable, KEYS) - counts
    return pd.DataFrame({"pcv": counts, "ckey": keys, "pvalue": noise})


def noise() -> Iterator[list[str]]:
    """Yield what noise and its design take."""
    rng = np.random.default_rng(1)
    ptable = design_ptable(5, 3, minimum=3)
    counts, keys = rng.poisson(6, CELLS), rng.integers(0, 2**32, CELLS)
    perturb(counts[:9], keys[:9], ptable)
    own, copied = in_turn([lambda: perturb(counts, keys, ptable), lambda: counts + keys], times=5)
    yield [f"noise for {CELLS:,} cells with keys", f"{own:.3f} s", f"adding the two columns {copied:.3f} s"]
    designed = best(lambda: design_ptable(5, 3, minimum=3, stay=0.5, monotone=True), 5)
    yield ["designing a perturbation table (D = 5, V = 3, nine counts)", f"{designed * 1000:.1f} ms", ""]


def tables() -> Iterator[list[str]]:
    """Yield what tables of records take, beside the peer."""
    ptable = design_ptable(5, 3, minimum=3)
    people, by = records(RECORDS), list(NAMES)
    frame, whole = people.to_pandas(), for_the_peer(ptable)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        pq.write_table(people, path)

        def ours(source: Any) -> Any:
            keyed = KeyedTable.from_records(source, by, key="key", key_range=KEYS, margins=[by])
            return CellKey(ptable).apply(keyed).release

        def peer() -> Any:
            from cell_key_perturbation.create_perturbed_table import create_perturbed_table

            with contextlib.redirect_stdout(io.StringIO()):
                return create_perturbed_table(frame, whole, [], by, "key", use_existing_ons_id=False, threshold=0)

        check(ours(people), peer())
        file, memory, theirs = in_turn([lambda: ours(path), lambda: ours(people), peer], times=2)
    ratio = f"{theirs / memory:.1f} times as fast"
    yield [f"{' × '.join(by)} of {RECORDS:,} records in memory", f"{memory:.2f} s", ratio]
    yield ["the same from a Parquet file", f"{file:.2f} s", f"{theirs / file:.1f} times as fast"]
    yield ["cell-key-perturbation, in memory", f"{theirs:.2f} s", ""]
    hashed = best(lambda: record_keys(people, ["id"], SECRET), 2)
    yield [f"keyed hashes of {RECORDS:,} identifiers", f"{hashed:.2f} s", ""]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    yield "## Cell keys\n"
    yield machine("numpy", "numba", "duckdb", "pandas", "cell-key-perturbation") + ".\n"
    yield "Both give the same figures for all cells.\n"
    yield from growing(["", "time", ""], chain(noise(), tables()))


def check(release: Any, frame: Any) -> None:
    """The two must publish the same figures, or their times say nothing."""
    ours = release.table.to_dict()
    theirs = {
        tuple(row[:-1]): int(row[-1]) for row in frame[[*NAMES, "count"]].itertuples(index=False) if int(row[-1]) > 0
    }
    assert ours == theirs


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
