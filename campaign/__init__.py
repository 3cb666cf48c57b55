"""Tries what should not be: hostile inputs, kills, cut and flipped files, pairs of originals with equal releases."""
