"""Population uniques: who in this sample is the only one of their kind in the population?"""

from discreet.uniques.bayes_decision import BayesTest, bayes_test
from discreet.uniques.criteria import Criterion, criteria
from discreet.uniques.drawn_posterior import DrawnPosterior
from discreet.uniques.events import Event, at_least, at_least_one_zero, at_most
from discreet.uniques.exact_posterior import Posterior, q_multinomial, q_uniform
from discreet.uniques.loglinear_tau import LogLinearRisk, Rates, fit_rates, loglinear_risk, risk_of
from discreet.uniques.posterior import posterior
from discreet.uniques.priors import DirichletMultinomial, Mixture, Multinomial, Prior, Uniform
from discreet.uniques.sample import Sample
from discreet.uniques.sample_size import SampleSize, SizeCurve, sample_size, size_curve
from discreet.uniques.selection import Selection, choose, forward_selection
from discreet.uniques.tau import Tau, TauSlice, TauTable, tau, tau_by_slice, tau_of

__all__ = [
    "BayesTest",
    "Criterion",
    "DirichletMultinomial",
    "DrawnPosterior",
    "Event",
    "LogLinearRisk",
    "Mixture",
    "Multinomial",
    "Posterior",
    "Prior",
    "Rates",
    "Sample",
    "SampleSize",
    "Selection",
    "SizeCurve",
    "Tau",
    "TauSlice",
    "TauTable",
    "Uniform",
    "at_least",
    "at_least_one_zero",
    "at_most",
    "bayes_test",
    "choose",
    "criteria",
    "fit_rates",
    "forward_selection",
    "loglinear_risk",
    "posterior",
    "q_multinomial",
    "q_uniform",
    "risk_of",
    "sample_size",
    "size_curve",
    "tau",
    "tau_by_slice",
    "tau_of",
]
