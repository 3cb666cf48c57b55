"""Compiled kernels: Numba, free of the interpreter lock, cached on disk. Imported only by modules of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile on first call, free of the interpreter lock, and keep the machine code for the next process.

    Kernels that call each other belong in one file: the cache notices a change of a kernel's own file only.
    """
    try:
        kernel: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:
        # Neither the package's folder nor the user's can be written: compile anew in every process.
        kernel = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Kernel, kernel)
