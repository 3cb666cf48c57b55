"""Run the command line with ``python -m discreet``."""

from discreet.cli import main

main()
