"""The audit: what can be worked out from what is published, by whom, how surely, and whether that is too much."""
