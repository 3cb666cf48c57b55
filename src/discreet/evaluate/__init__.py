"""Methods judged over their draws: expected risk and information loss of a random protection."""
