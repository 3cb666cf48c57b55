"""Keys: of records, from a secret and what identifies them; of cells, as sums of their records' keys.

A :class:`KeyedTable` holds cells with their keys and keeps true counts from leaking by accident.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, Unpack

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.core.random import Seed, generator
from discreet.protect.record_rows import read_columns
from discreet.table import Table
from discreet.table.grid import locate
from discreet.table.tabulation import Tabulation
from discreet.tabulation.spec import KEYS, LARGEST_KEY, DimensionSpec
from discreet.tabulation.tabulate import Options, tabulate_keyed

if TYPE_CHECKING:
    import pyarrow as pa

SHORTEST = 16
"""The least number of bytes of a secret."""


def record_keys(records: object, columns: Sequence[str], secret: str | bytes) -> IntArray:
    """Return a key from 0 to 2³² − 1 for every record: a keyed hash of what identifies it.

    The same text in the same columns has the same key in every extract of the data, whatever the order of the records
    and whether numbers are held as numbers or as text. The hash is SipHash-2-4 under 128 bits made of the secret by
    BLAKE2b: without the secret, keys cannot be told from uniform random numbers, even by an attacker who knows the
    records. The secret is used here and kept nowhere; anybody who has it can undo the noise.

    Args:
        records: a pandas, polars or Arrow frame, or a CSV or Parquet file.
        columns: the columns that identify a record; two records that agree in all of them get the same key.
        secret: at least 16 bytes that nobody can guess.

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


def with_record_keys(
    records: object, columns: Sequence[str], secret: str | bytes, *, name: str = "record_key"
) -> pa.Table:
    """Return the records as an Arrow table with a column of keys; see :func:`record_keys`."""
    arrow = read_columns(records)
    if name in arrow.column_names:
        raise RequestError(f"the records have a column {name!r} already; give the column of keys another name")
    import pyarrow as pa

    return arrow.append_column(name, pa.array(record_keys(arrow, columns, secret)))


def secret_words(secret: str | bytes) -> npt.NDArray[np.uint64]:
    """Return the two words that a secret becomes."""
    data = secret.encode() if isinstance(secret, str) else bytes(secret)
    if len(data) < SHORTEST:
        raise RequestError(f"the secret has {len(data)} bytes; take {SHORTEST} or more, for example 32 random ones")
    digest = hashlib.blake2b(data, digest_size=16, person=b"discreet record").digest()
    return np.frombuffer(digest, "<u8").astype(np.uint64)


def drawn_keys(original: Table | Tabulation, seed: Seed) -> IntArray:
    """Draw keys of the finest cells, and add them up in every margin, modulo 2³².

    The sum of uniform random keys is a uniform random key, whatever their number; so this is the law of record keys
    without records. Margins have the sums: a margin over a single filled cell has that cell's key.

    >>> drawn_keys(Tabulation.from_table(Table.from_array([0, 4], ["x"])), 1).tolist()[0] >= 0
    True
    """
    rng = generator(seed)
    if isinstance(original, Table):
        return rng.integers(0, KEYS, original.cells.size)
    if original.names not in original.margins:
        raise RequestError(
            f"the finest cells, {' × '.join(original.names)}, were not tabulated, so keys of margins cannot be "
            "added up from them; tabulate them, in a plan by a table that crosses them all, or give records keys, "
            "in a plan by key, or by identify and secret, under [records] (KeyedTable.from_records, --record-key)"
        )
    inner = original.table()
    drawn = rng.integers(0, KEYS, inner.cells.size)
    # Sums of keys are laid out like counts; 2³² means the key 0, because counts are 1 or more.
    keyed = Table(inner.dimensions, inner.cells, np.where(drawn > 0, drawn, KEYS), inner.impossible)
    sums = Tabulation.from_table(keyed, hierarchies={axis.name: axis.hierarchies for axis in original.axes})
    keys: IntArray = sums.records[locate(sums.cells, original.cells)] % KEYS
    return keys


class KeyedTable:
    """The cells of records with their cell keys, ready to be perturbed.

    True counts and keys together undo the noise, so this object shows neither: it cannot be printed, written, pickled
    or turned into a frame. :meth:`unperturbed` returns the true cells to those who ask for them by that name.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": range(9), "sex": list("mmmmffffx")})
    >>> keyed = KeyedTable.from_records(people, ["sex"], identify=["id"], secret="keep this to yourself")
    >>> keyed
    KeyedTable sex (3): 4 cells; the true counts are not shown
    """

    __slots__ = ("_keys", "_modulus", "_tabulation")

    def __init__(self, tabulation: Tabulation, keys: IntArray, modulus: int = KEYS) -> None:
        """Take cells and the keys of each, from 0 to below the modulus."""
        found = np.asarray(keys)
        if found.shape != tabulation.cells.shape or found.dtype.kind not in "iu":
            raise RequestError(f"{tabulation.cells.size} cells but {found.size} keys; give an integer for each")
        if found.size and (found.min() < 0 or found.max() >= modulus):
            raise RequestError(f"cell keys run from {found.min()} to {found.max()}; they lie from 0 to {modulus - 1}")
        self._tabulation, self._keys, self._modulus = tabulation, found.astype(np.int64), int(modulus)

    @classmethod
    def from_records(
        cls,
        records: object,
        by: Sequence[str | DimensionSpec] | Mapping[str, str | Sequence[str]],
        *,
        key: str | None = None,
        key_range: int = KEYS,
        identify: Sequence[str] = (),
        secret: str | bytes | None = None,
        **options: Unpack[Options],
    ) -> KeyedTable:
        """Tabulate records with the keys that they have, or with keys made of what identifies them.

        Args:
            records: a file or a frame, as for :func:`discreet.tabulate`.
            by: the columns that classify.
            key: the column of record keys.
            key_range: keys are integers from 0 to below this; 1 for fractions between 0 and 1.
            identify: instead of ``key``, the columns that a keyed hash is made of.
            secret: the secret of that hash; see :func:`~discreet.protect.cell_key.keys.record_keys`.
            options: as for :func:`~discreet.tabulation.tabulate_keyed`: value, hierarchies, margins and others.
        """
        if (key is None) == (secret is None):
            raise RequestError(
                "say where record keys come from: a column (key=, --record-key) or a secret (secret=, --secret)"
            )
        if secret is not None:
            key, key_range = "record_key", KEYS
            records = with_record_keys(records, identify, secret, name=key)
        elif identify:
            raise RequestError("columns that identify records are hashed with a secret; give it, or leave them out")
        assert key is not None
        tabulation, keys = tabulate_keyed(records, by, key=key, key_range=key_range, **options)
        return cls(tabulation, keys, LARGEST_KEY if key_range == 1 else key_range)

    @property
    def modulus(self) -> int:
        """How many cell keys there are."""
        return self._modulus

    def unperturbed(self) -> Tabulation:
        """Return the true cells: confidential, for risk measures and checks, not for publication."""
        return self._tabulation

    def cell_keys(self) -> IntArray:
        """Return the cell keys; confidential, since with them and the perturbation table the noise can be removed."""
        return self._keys

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise RequestError(
            "a KeyedTable holds true counts and their keys, and must not leave the process; perturb it (CellKey.apply) "
            "and write the release, or ask for unperturbed()"
        )

    __reduce__ = __reduce_ex__ = __iter__ = __array__ = _refuse
    to_frame = to_dict = write = _refuse

    def __repr__(self) -> str:
        spread = " × ".join(f"{axis.name} ({axis.leaf_codes.size})" for axis in self._tabulation.axes)
        return f"KeyedTable {spread}: {len(self._tabulation):,} cells; the true counts are not shown"

    __str__ = _repr_html_ = __repr__
