"""Information loss: how far a release is from its original."""

from discreet.utility.divergence import DIVERGENCES, Divergence, f_divergence
from discreet.utility.loss import InformationLoss, information_loss

__all__ = ["DIVERGENCES", "Divergence", "InformationLoss", "f_divergence", "information_loss"]
