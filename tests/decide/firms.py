"""Generated firms: skewed turnover, two hierarchies, and holdings that own several of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from discreet.table.hierarchy import Hierarchy

SECTIONS, REGIONS = "ABCDEFGH", 6


def firms(number: int, seed: int = 0) -> pd.DataFrame:
    """Return a row per firm: activity, region, size, turnover, its own code, and its holding where it has one."""
    rng = np.random.default_rng(seed)
    activity = rng.choice(80, number, p=weights(80, rng))
    region = rng.choice(24, number, p=weights(24, rng))
    turnover = np.rint(20 + 1000 * rng.pareto(1.8, number)).astype(np.int64)
    # A tenth of the firms belong to holdings of about four, within one activity for the most part.
    owned = rng.random(number) < 0.1
    holding = np.where(owned, activity * 1000 + rng.integers(0, max(number // 3200, 1) + 1, number), -1)
    return pd.DataFrame(
        {
            "activity": [activity_code(i) for i in activity.tolist()],
            "region": [region_code(i) for i in region.tolist()],
            "turnover": turnover,
            "firm": np.arange(number),
            "holding": [f"h{i}" if i >= 0 else None for i in holding.tolist()],
        }
    )


def weights(n: int, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = rng.gamma(0.7, size=n) + 0.05
    return found / found.sum()  # type: ignore[no-any-return]


def activity_code(i: int) -> str:
    return f"{SECTIONS[i // 10]}{i % 10}"


def region_code(i: int) -> str:
    return f"R{i // 4}{i % 4}"


def hierarchies() -> dict[str, Hierarchy]:
    """Return sections of ten activities each, and regions of four districts each."""
    activity = {activity_code(i): SECTIONS[i // 10] for i in range(80)}
    region = {region_code(i): f"R{i // 4}" for i in range(24)}
    return {"activity": Hierarchy.from_parents(activity), "region": Hierarchy.from_parents(region)}
