"""The workbench: the commands of discreet behind a page in the browser, on this machine alone.

The page computes nothing. Whatever it shows is what a command prints, run in a process of its own in the folder of
the session; every screen names the command.
"""
