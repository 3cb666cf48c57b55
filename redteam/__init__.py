"""A red team for discreet: it reads what discreet publishes, enumerates what can be behind it, and refutes claims.

It uses the front door of discreet and published files only, and shares no code with it.
"""
