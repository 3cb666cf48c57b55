"""One reading of originals and releases: every command and function takes a file, frame or table in the same way."""
