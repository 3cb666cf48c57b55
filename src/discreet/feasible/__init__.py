"""Feasible sets: bounds on hidden values, proofs of them, and the number of tables that fit what is published."""
