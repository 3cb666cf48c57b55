"""Foundations: errors, random streams, numerics, parallel work, progress and plain-text faces."""
