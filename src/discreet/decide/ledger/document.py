"""A release as plain data and back: what the ledger stores of it, and the digest by which it is known."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.core.errors import DataError
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release


def packed(release: Release) -> bytes:
    """Return everything that a release publishes, as compressed JSON; the same release gives the same bytes."""
    document = {
        "method": release.method,
        "parameters": dict(release.parameters),
        "parts": [_part(part) for part in release.parts()],
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)
    return zlib.compress(text.encode(), 6)


def unpacked(body: bytes) -> Release:
    """Return the release that was packed.

    >>> shown = Figures.from_array([3, None, 9], {"size": ["small", "large", "Total"]}, name="firms")
    >>> unpacked(packed(Release.of(shown))).parts()[0]
    firms: size (3), 3 figures, 1 hidden (exact, suppressed)
    """
    try:
        document = json.loads(zlib.decompress(body))
        parts = tuple(_figures(part) for part in document["parts"])
        return Release(None, document["method"], document["parameters"], parts)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise DataError(f"a release in the ledger is damaged ({error}); restore the ledger from a copy") from None


def digest(body: bytes, about: Mapping[str, str]) -> str:
    """Return the SHA-256 of a packed release and of what is said about it."""
    said = json.dumps(dict(about), sort_keys=True, ensure_ascii=False)
    # The compressed bytes may differ between builds of zlib; what they hold does not.
    return hashlib.sha256(said.encode() + b"\0" + zlib.decompress(body)).hexdigest()


def _part(part: Figures) -> dict[str, Any]:
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
    }


def _figures(data: Mapping[str, Any]) -> Figures:
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
    )


def _plain(item: Any) -> Any:
    """Return arrays and numbers of NumPy as JSON knows them, and anything else as its text."""
    return item.tolist() if isinstance(item, np.ndarray | np.generic) else str(item)
