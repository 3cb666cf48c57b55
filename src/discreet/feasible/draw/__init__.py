"""The tables that fit a group, counted or drawn."""
