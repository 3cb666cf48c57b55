"""Methods and originals together: suppression that is audited, and the expected risk and loss of random protections."""
