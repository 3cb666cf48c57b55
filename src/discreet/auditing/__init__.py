"""The audit: what a release lets readers work out, who can, how surely, and whether that is too much."""
