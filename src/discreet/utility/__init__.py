"""Information loss: how far a release is from its original."""

from discreet.utility.loss import DIVERGENCES, Divergence, InformationLoss, f_divergence, information_loss

__all__ = ["DIVERGENCES", "Divergence", "InformationLoss", "f_divergence", "information_loss"]
