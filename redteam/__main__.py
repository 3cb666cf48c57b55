"""Run the red team: ``python -m redteam --cases 20000 --workers 2``."""

import os
import sys

# The tables are so small that compiling takes longer than running.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

from redteam.run import main

if __name__ == "__main__":
    sys.exit(main())
