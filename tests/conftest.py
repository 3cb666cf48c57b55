"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# A busy machine or a kernel's first compilation must not fail a property; CI draws the same examples every time.
settings.register_profile("discreet", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("discreet")
