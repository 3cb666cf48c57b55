"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

from discreet.core.progress import WATCHING

# A busy machine or a kernel's first compilation must not fail a property; CI draws the same examples every time.
settings.register_profile("discreet", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("discreet")

# What is compiled depends on what has run before; nobody is told of it, as tests compare what commands say.
WATCHING.append(lambda done, total, label: None)
