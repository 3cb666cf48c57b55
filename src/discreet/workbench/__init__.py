"""The workbench: the commands of discreet behind a page in the browser, on this machine alone.

The page computes nothing. It shows what commands print, each run in its own process in the folder of the session; every
screen names its command.
"""
