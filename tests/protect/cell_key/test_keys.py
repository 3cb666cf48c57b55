"""Record keys and cell keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.core.errors import DataError, RequestError
from discreet.protect.cell_key import KeyedTable, record_keys, with_record_keys
from discreet.protect.cell_key.key_kernels import siphash
from discreet.protect.cell_key.keys import drawn_keys, secret_words
from discreet.table import Table
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation
from discreet.tabulation import tabulate_keyed

SECRET = "a secret of more than 16 bytes"
MASK = 2**64 - 1


def slow_siphash(data: bytes, k0: int, k1: int) -> int:
    """The twin: SipHash-2-4 in whole numbers, as its paper describes it."""

    def turn(x: int, b: int) -> int:
        return (x << b | x >> (64 - b)) & MASK

    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n: int) -> None:
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)

    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 255) << 56)
    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def fast_siphash(texts: list[bytes], k0: int, k1: int) -> list[int]:
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    out = np.zeros(len(texts), np.uint64)
    data = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    siphash(data, offsets, np.array([k0, k1], np.uint64), out)
    return out.tolist()


def test_the_hash_gives_its_published_values() -> None:
    k0, k1 = (int.from_bytes(bytes(range(i, i + 8)), "little") for i in (0, 8))
    texts = [b"", bytes(range(15))]
    assert fast_siphash(texts, k0, k1) == [0x726FDB47DD0E0E31, 0xA129CA6149BE45E5]


def test_the_hash_agrees_with_its_twin() -> None:
    rng = np.random.default_rng(1)
    texts = [rng.integers(0, 256, n, dtype=np.uint8).tobytes() for n in rng.integers(0, 40, 300)]
    k0, k1 = (int(word) for word in rng.integers(0, 2**64, 2, dtype=np.uint64))
    assert fast_siphash(texts, k0, k1) == [slow_siphash(text, k0, k1) for text in texts]


def test_keys_are_of_what_identifies_a_record_and_of_the_secret() -> None:
    frame = pd.DataFrame({"id": [7, 8, 9], "house": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
    keys = record_keys(frame, ["id"], SECRET)
    assert keys.min() >= 0
    assert keys.max() < 2**32
    k0, k1 = (int(word) for word in secret_words(SECRET))
    assert keys.tolist() == [slow_siphash(str(i).encode(), k0, k1) >> 32 for i in (7, 8, 9)]
    np.testing.assert_array_equal(record_keys(frame[::-1], ["id"], SECRET), keys[::-1])
    np.testing.assert_array_equal(record_keys(pl.DataFrame({"id": ["7", "8", "9"]}), ["id"], SECRET), keys)
    np.testing.assert_array_equal(record_keys(frame, ["id"], SECRET.encode()), keys)
    assert (record_keys(frame, ["id"], SECRET + "!") != keys).all()
    both = record_keys(frame, ["id", "house"], SECRET)
    assert (both != keys).all()
    # "7" and "1a" are other columns than "71" and "a".
    split = pd.DataFrame({"a": ["7", "71"], "b": ["1a", "a"]})
    assert len(set(record_keys(split, ["a", "b"], SECRET).tolist())) == 2


def test_keys_are_even() -> None:
    keys = record_keys(pa.table({"id": np.arange(200_000)}), ["id"], SECRET)
    found = np.bincount(keys >> 24, minlength=256)
    chi = float(((found - keys.size / 256) ** 2 / (keys.size / 256)).sum())
    assert 160 < chi < 375  # 255 degrees of freedom: beyond with probability 1e-6


def test_keys_of_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2, 3]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    first = record_keys(tmp_path / "a.csv", ["id"], SECRET)
    np.testing.assert_array_equal(first, record_keys(str(tmp_path / "a.parquet"), ["id"], SECRET))
    sliced = with_record_keys(pa.table({"id": [0, 1, 2, 3]}).slice(1), ["id"], SECRET, name="k")
    assert sliced["k"].to_pylist() == first.tolist()


def test_keys_that_cannot_be_made() -> None:
    frame = pd.DataFrame({"id": ["1", None], "record_key": [1, 2]})
    with pytest.raises(DataError, match="record 2 has no 'id'"):
        record_keys(frame, ["id"], SECRET)
    with pytest.raises(DataError, match="record 1 has no 'id'"):
        record_keys(pd.DataFrame({"id": ["", "2"]}), ["id"], SECRET)
    with pytest.raises(RequestError, match=r"no column 'recordkey'.*did you mean 'record_key'"):
        record_keys(frame, ["recordkey"], SECRET)
    with pytest.raises(RequestError, match="name the columns"):
        record_keys(frame, [], SECRET)
    with pytest.raises(RequestError, match="has 5 bytes"):
        record_keys(frame, ["record_key"], "short")
    with pytest.raises(RequestError, match="column 'record_key' already"):
        with_record_keys(frame, ["record_key"], SECRET)
    with pytest.raises(DataError, match="of type"):
        record_keys(pa.table({"id": [[1], [2]]}), ["id"], SECRET)
    with pytest.raises(DataError, match=r"separator U\+001F"):
        record_keys(pd.DataFrame({"a": ["x\x1f"], "b": ["y"]}), ["a", "b"], SECRET)


# --- cells ----------------------------------------------------------------------------------------------------


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "area": rng.choice(["n1", "n2", "s1"], rows),
            "sex": rng.choice(["m", "f"], rows),
            "age": rng.integers(0, 4, rows),
            "key": rng.integers(0, 256, rows),
            "share": rng.random(rows),
            "x": rng.integers(0, 50, rows),
        }
    )


@pytest.mark.parametrize(("key", "key_range"), [("key", 256), ("share", 1)])
def test_engines_add_keys_up_alike(key: str, key_range: int) -> None:
    tree = Hierarchy.from_parents({"n1": "n", "n2": "n", "s1": "Total"})
    for seed in range(5):
        frame = people(60, seed)
        options = {"key": key, "key_range": key_range, "hierarchies": {"area": tree}, "value": "x"}
        cells, keys = tabulate_keyed(frame, ["area", "sex", "age"], **options)  # type: ignore[arg-type]
        twin, slow = tabulate_keyed(frame, ["area", "sex", "age"], engine="reference", **options)  # type: ignore[arg-type]
        assert cells == twin
        np.testing.assert_array_equal(keys, slow)
        modulus = 2**53 if key_range == 1 else key_range
        assert keys[0] == sum(int(k * (modulus if key_range == 1 else 1)) for k in frame[key]) % modulus


def test_keys_in_csv_files_and_with_missing_categories(tmp_path: Path) -> None:
    frame = people(50, 1)
    frame.loc[3, "sex"] = None
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    kept = [
        tabulate_keyed(tmp_path / name, ["sex"], key="key", key_range=256, missing="drop")
        for name in ("p.csv", "p.parquet")
    ]
    np.testing.assert_array_equal(kept[0][1], kept[1][1])
    assert kept[0][1][0] == frame["key"].drop(3).sum() % 256


@pytest.mark.parametrize(
    ("column", "key_range", "reason"),
    [
        ([1, None, 3], 256, r"row 2: record key 'key' is missing"),
        ([1, 2, 256], 256, r"row 3: record key 'key' is 256.*whole, from 0 to 255"),
        ([1, -2, 5], 256, r"row 2: record key 'key' is -2"),
        ([0.5, 0.25, 0.75], 256, r"row 1: record key 'key' is 0.5.*2 more records"),
        ([0.5, 1.0, 0.75], 1, r"row 2: record key 'key' is 1.0.*fractions from 0 to below 1"),
        (["a", "1", "2"], 256, r"row 1: record key 'key'"),
        ([[1], [2], [3]], 256, "of type"),
    ],
)
def test_missing_and_wrong_keys(column: list[object], key_range: int, reason: str) -> None:
    frame = pa.table({"sex": ["m", "f", "f"], "key": pa.array(column)})
    with pytest.raises(DataError, match=reason):
        tabulate_keyed(frame, ["sex"], key="key", key_range=key_range)
    if not isinstance(column[0], list):
        with pytest.raises(DataError, match="keys lie in their range"):
            tabulate_keyed(frame, ["sex"], key="key", key_range=key_range, engine="reference")


def test_requests_about_keys() -> None:
    frame = people(10, 1)
    with pytest.raises(RequestError, match=r"no record key column 'kye'.*did you mean 'key'"):
        tabulate_keyed(frame, ["sex"], key="kye")
    with pytest.raises(RequestError, match="range of keys is 0"):
        tabulate_keyed(frame, ["sex"], key="key", key_range=0)
    with pytest.raises(RequestError, match="engine duckdb"):
        tabulate_keyed(frame, ["sex"], key="key", engine="spark")
    with pytest.raises(RequestError, match="say where record keys come from"):
        KeyedTable.from_records(frame, ["sex"])
    with pytest.raises(RequestError, match="say where record keys come from"):
        KeyedTable.from_records(frame, ["sex"], key="key", secret=SECRET)
    with pytest.raises(RequestError, match="hashed with a secret"):
        KeyedTable.from_records(frame, ["sex"], key="key", key_range=256, identify=["age"])
    cells = Tabulation.from_table(Table.from_array([1, 2], ["x"]))
    with pytest.raises(RequestError, match="3 cells but 2 keys"):
        KeyedTable(cells, np.array([1, 2]))
    with pytest.raises(RequestError, match="from 0 to 4; they lie from 0 to 3"):
        KeyedTable(cells, np.array([0, 2, 4]), 4)


def test_drawn_keys_add_up_over_hierarchies() -> None:
    tree = Hierarchy.from_parents({"1": "a", "2": "a", "3": "b"})
    table = Table.from_array([[3, 0], [1, 5], [0, 2]], ["area", "sex"])
    cells = Tabulation.from_table(table, hierarchies={"area": tree})
    keys = drawn_keys(cells, 5)
    assert keys.min() >= 0
    assert keys.max() < 2**32
    at = {tuple(cells.label(i).values()): int(keys[i]) for i in range(len(cells))}
    inner = {(a, s): at.get((a, s), 0) for a in "123" for s in "12"}
    assert at["Total", "Total"] == sum(inner.values()) % 2**32
    assert at["a", "2"] == (inner["1", "2"] + inner["2", "2"]) % 2**32
    # The group b holds one filled cell only: the same people, so the same key.
    assert at["b", "Total"] == at["b", "2"] == at["3", "2"]
    np.testing.assert_array_equal(keys, drawn_keys(cells, 5))
    assert (keys != drawn_keys(cells, 6)).any()
    frame = people(40, 2)
    some, _ = tabulate_keyed(frame, ["area", "sex"], key="key", margins=[["area"], ["sex"]])
    with pytest.raises(RequestError, match="were not tabulated"):
        drawn_keys(some, 1)
