"""A programme of publications: the plan of many tables, which of them are one problem, and its run."""
