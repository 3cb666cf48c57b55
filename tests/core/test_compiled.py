"""Kernels compile also where nothing can be cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import pytest

from discreet.core.compiled import compiled


def test_kernels_compile_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    njit: Any = numba.njit

    def read_only(*functions: Any, **options: Any) -> Callable[..., Any]:
        if options.get("cache") and not functions:

            def refuse(function: object) -> None:
                raise RuntimeError("cannot cache function: no locator available")

            return refuse
        made: Callable[..., Any] = njit(*functions, **options)
        return made

    monkeypatch.setattr(numba, "njit", read_only)

    @compiled
    def double(x: int) -> int:
        return 2 * x

    assert double(21) == 42
