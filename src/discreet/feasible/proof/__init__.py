"""Why a bound holds: combinations of published figures, checked by adding up."""
