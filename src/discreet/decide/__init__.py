"""From a table to a decision: policies, the assessment of one table, the comparison of methods, and their records.

The sequence of the work lives in :mod:`discreet.decide.assess`, and nowhere else: the command line, notebooks and
other faces call it.
"""
