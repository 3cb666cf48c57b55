"""A package of one file: a protection that takes as long as a test wants it to, on any machine."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Original, Protected
from discreet.protect.conventional_rounding import ConventionalRounding

HOLD, HELD = ".hold", ".held"
"""The file that it waits for to vanish, and the one in which it says which process waits; both in its folder."""


@dataclass(frozen=True)
class Patient(ConventionalRounding):
    """Round to the nearest multiple of the base as soon as nothing holds it up."""

    name: ClassVar[str] = "patient"

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Wait, and round."""
        Path(HELD).write_text(f"{os.getpid()}\n", encoding="utf-8")
        while Path(HOLD).exists():
            time.sleep(0.02)
        return super().protected(original, seed, progress)
