"""Run the red team: ``python -m redteam --cases 20000 --workers 2``."""

import sys

from redteam.run import main

if __name__ == "__main__":
    sys.exit(main())
