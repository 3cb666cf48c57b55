"""Methods judged on originals: audited suppression, and the expected risk and loss of random protections."""
