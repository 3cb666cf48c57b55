"""Groups of any shape, on a tableau of what their equations leave open."""
