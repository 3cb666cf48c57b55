"""Releases as a ledger stores them: everything that is published, as compressed JSON, and its digest."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping

import numpy as np

from discreet.core.errors import DataError, DiscreetError
from discreet.core.json_types import Json, JsonObject
from discreet.table.arrow_files import plain_item
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release
from discreet.table.statistic import StatisticColumn

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError, DiscreetError)
"""The errors that a damaged body can raise."""


def packed(release: Release) -> bytes:
    """Return everything that a release publishes, as JSON; the same release gives the same bytes."""
    document = {
        "method": release.method,
        "parameters": dict(release.parameters),
        "parts": [_part(part) for part in release.parts()],
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=plain_item).encode()


def unpacked(text: bytes) -> Release:
    """Return the release that was packed.

    >>> shown = Figures.from_array([3, None, 9], {"size": ["small", "large", "Total"]}, name="firms")
    >>> unpacked(packed(Release.of(shown))).parts()[0]
    firms: size (3), 1 figure hidden (exact, suppressed)
    """
    try:
        document = json.loads(text)
        parts = tuple(_figures(part) for part in document["parts"])
        return Release(None, document["method"], document["parameters"], parts)
    except DAMAGED as error:
        raise DataError(f"a release in the ledger is damaged ({error}); restore the ledger from a copy") from None


def compressed(text: bytes) -> bytes:
    """Return a packed release in stored form."""
    return zlib.compress(text, 6)


def decompressed(body: bytes, size: int) -> bytes:
    """Return a packed release of a known size; anything else in its place is refused."""
    try:
        # Not more than that is unpacked: a few bytes can unpack to more than memory holds.
        text = zlib.decompressobj().decompress(body, size + 1)
    except (zlib.error, TypeError) as error:
        raise DataError(f"a release in the ledger is damaged ({error}); restore the ledger from a copy") from None
    if len(text) != size:
        raise DataError(f"a release in the ledger does not have its {size:,} bytes; restore the ledger from a copy")
    return text


def digest(text: bytes, about: Mapping[str, str]) -> str:
    """Return the SHA-256 of a packed release and its description."""
    # The compressed bytes may differ between builds of zlib; what they hold does not.
    said = json.dumps(dict(about), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(said.encode() + b"\0" + text).hexdigest()


def _part(part: Figures) -> dict[str, Json]:
    return {
        "name": part.name,
        "labels": {name: list(found) for name, found in part.labels.items()},
        # The order of the dimensions is that of the columns of codes.
        "dimensions": list(part.names),
        "codes": part.codes.T.tolist(),
        "values": part.values.tolist(),
        "kind": part.kind.tolist(),
        "kinds": [kind.to_dict() for kind in part.kinds],
        "decimals": part.decimals,
        "total": part.total,
        "absent": part.absent,
        "upper": None if part.upper is None else part.upper.tolist(),
        "hierarchies": {name: [tree.to_dict() for tree in trees] for name, trees in part.hierarchies.items()},
        **({"unit": part.unit} if part.unit else {}),
        **(
            {"statistics": [one.to_dict() for one in part.statistics], "figure": part.figure} if part.statistics else {}
        ),
    }


def _figures(data: JsonObject) -> Figures:
    names = data["dimensions"]
    size = len(data["values"])
    return Figures(
        {name: tuple(data["labels"][name]) for name in names},
        np.array(data["codes"], np.int64).reshape(len(names), size).T,
        np.array(data["values"], np.int64),
        np.array(data["kind"], np.int64),
        tuple(Kind.from_dict(kind) for kind in data["kinds"]),
        name=data["name"],
        decimals=data["decimals"],
        total=data["total"],
        hierarchies={name: tuple(Hierarchy.from_dict(t) for t in trees) for name, trees in data["hierarchies"].items()},
        absent=data["absent"],
        upper=None if data["upper"] is None else np.array(data["upper"], np.int64),
        figure=data.get("figure", "count"),
        unit=data.get("unit", ""),
        statistics=tuple(StatisticColumn.from_dict(one) for one in data.get("statistics", ())),
    )
