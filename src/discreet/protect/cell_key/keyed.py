"""Cells with their keys, kept in a way that true counts do not leave by accident."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.protect.cell_key.keys import with_record_keys
from discreet.table.tabulation import Tabulation
from discreet.tabulation.spec import KEYS, LARGEST_KEY, DimensionSpec
from discreet.tabulation.tabulate import tabulate_keyed


class KeyedTable:
    """The cells of records with their cell keys, ready to be perturbed.

    True counts and keys together undo the noise, so this object shows neither: it cannot be printed, written, pickled
    or turned into a frame. :meth:`unperturbed` hands the true cells out to somebody who asks for them by that name.

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
        records: Any,
        by: Sequence[str | DimensionSpec] | Mapping[str, str | Sequence[str]],
        *,
        key: str | None = None,
        key_range: int = KEYS,
        identify: Sequence[str] = (),
        secret: str | bytes | None = None,
        **options: Any,
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
                "say where record keys come from: a column (key=, --key) or a secret (secret=, --secret)"
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
        """Return the cell keys: confidential; with them and the perturbation table the noise can be taken off."""
        return self._keys

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise RequestError(
            "a KeyedTable holds true counts and their keys, and does not leave the process; perturb it (CellKey.apply) "
            "and write the release, or ask for unperturbed()"
        )

    __reduce__ = __reduce_ex__ = __iter__ = __array__ = _refuse
    to_frame = to_dict = write = _refuse

    def __repr__(self) -> str:
        spread = " × ".join(f"{axis.name} ({axis.leaf_codes.size})" for axis in self._tabulation.axes)
        return f"KeyedTable {spread}: {len(self._tabulation):,} cells; the true counts are not shown"

    __str__ = _repr_html_ = __repr__
