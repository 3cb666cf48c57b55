"""Run the red team: ``python -m redteam --cases 20000 --workers 2``."""

import os
import sys

# The tables are so small that compiling takes longer than running, unless there are thousands of them.
os.environ.setdefault("DISCREET_KERNELS", "interpreted")

from redteam.run import main

if __name__ == "__main__":
    sys.exit(main())
