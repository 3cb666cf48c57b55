"""A programme of publications: the plan of many tables, what of it is one problem, and its run."""
