"""Keys: of records, from a secret and what identifies them; of cells, as sums of their records' keys."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.core.random import Seed, generator
from discreet.protect.record_rows import read_columns
from discreet.table import Table
from discreet.table.grid import locate
from discreet.table.tabulation import Tabulation
from discreet.tabulation.spec import KEYS

SHORTEST = 16
"""The least number of bytes of a secret."""


def record_keys(records: Any, columns: Sequence[str], secret: str | bytes) -> IntArray:
    """Return a key from 0 to 2³² − 1 for every record: a keyed hash of what identifies it.

    The same text in the same columns has the same key in every extract of the data, whatever the order of the records
    and whether numbers are held as numbers or as text. The hash is SipHash-2-4 under 128 bits made of the secret by
    BLAKE2b: without the secret, keys cannot be told from even random numbers, even by somebody who knows the records.
    The secret is used here and kept nowhere; who has it can undo the noise.

    Args:
        records: a pandas, polars or Arrow frame, or a CSV or Parquet file.
        columns: the columns that identify a record; where two records agree in all, their keys are the same.
        secret: 16 bytes or more that nobody guesses.

    >>> import pandas as pd
    >>> keys = record_keys(pd.DataFrame({"id": [1, 2]}), ["id"], "correct horse battery staple")
    >>> keys.tolist() == record_keys(pd.DataFrame({"id": ["1", "2"]}), ["id"], "correct horse battery staple").tolist()
    True
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    arrow = read_columns(records)
    if not columns:
        raise RequestError("name the columns that identify a record; keys are made of them")
    words = secret_words(secret)
    texts = []
    for name in columns:
        if name not in arrow.column_names:
            raise RequestError(f"there is no column {name!r} to make keys of; {nearest(name, arrow.column_names)}")
        column = arrow[name].combine_chunks()
        try:
            text = pc.cast(column, pa.large_string())
        except pa.ArrowException:
            raise DataError(f"column {name!r} is of type {column.type}; keys are made of texts and numbers") from None
        missing = pc.index(pc.equal(pc.fill_null(text, ""), ""), True).as_py()
        if missing >= 0:
            raise DataError(f"record {missing + 1} has no {name!r}, and so no key; give every record one")
        texts.append(text)
    if len(texts) > 1 and any(pc.any(pc.match_substring(text, "\x1f")).as_py() for text in texts):
        raise DataError("a text has the separator U+001F in it, so columns cannot be told apart; take it out")
    joined = texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, pa.scalar("\x1f", pa.large_string()))
    if isinstance(joined, pa.ChunkedArray):
        joined = joined.combine_chunks()
    from discreet.protect.cell_key.key_kernels import siphash

    _, ends, data = joined.buffers()
    offsets = np.frombuffer(ends, np.int64)[joined.offset : joined.offset + len(joined) + 1]
    out = np.zeros(len(joined), np.uint64)
    siphash(np.frombuffer(data or b"", np.uint8), offsets, words, out)
    return (out >> np.uint64(32)).astype(np.int64)


def with_record_keys(records: Any, columns: Sequence[str], secret: str | bytes, *, name: str = "record_key") -> Any:
    """Return the records as an Arrow table with a column of keys; see :func:`record_keys`."""
    arrow = read_columns(records)
    if name in arrow.column_names:
        raise RequestError(f"the records have a column {name!r} already; name the column of keys otherwise")
    import pyarrow as pa

    return arrow.append_column(name, pa.array(record_keys(arrow, columns, secret)))


def secret_words(secret: str | bytes) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the two words that a secret becomes."""
    data = secret.encode() if isinstance(secret, str) else bytes(secret)
    if len(data) < SHORTEST:
        raise RequestError(f"the secret has {len(data)} bytes; take {SHORTEST} or more, for example 32 random ones")
    digest = hashlib.blake2b(data, digest_size=16, person=b"discreet record").digest()
    return np.frombuffer(digest, "<u8").astype(np.uint64)


def drawn_keys(original: Table | Tabulation, seed: Seed) -> IntArray:
    """Draw keys of the finest cells, and add them up in every margin, modulo 2³².

    The sum of even random keys of records is an even random key, whatever their number; so this is the law of record
    keys without records. Margins have the sums: a margin over a single filled cell has that cell's key.

    >>> drawn_keys(Tabulation.from_table(Table.from_array([0, 4], ["x"])), 1).tolist()[0] >= 0
    True
    """
    rng = generator(seed)
    if isinstance(original, Table):
        return rng.integers(0, KEYS, original.cells.size)
    if original.names not in original.margins:
        raise RequestError(
            f"the finest cells, {' × '.join(original.names)}, were not tabulated, so keys of margins cannot be "
            "added up from them; tabulate with record keys (KeyedTable.from_records, --key)"
        )
    inner = original.table()
    # Sums of keys are laid out like counts; 2³² means the key 0, because counts are 1 or more.
    keyed = Table(inner.dimensions, inner.cells, rng.integers(1, KEYS + 1, inner.cells.size), inner.impossible)
    sums = Tabulation.from_table(keyed, hierarchies={axis.name: axis.hierarchies for axis in original.axes})
    keys: IntArray = sums.records[locate(sums.cells, original.cells)] % KEYS
    return keys
