"""From a table to a decision: policies, the assessment of one table, the comparison of methods, and their records.

The steps and their order are fixed in :mod:`discreet.decide.assess`, and nowhere else; the command line, notebooks and
the workbench call it.
"""
