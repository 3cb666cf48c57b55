"""Tables drawn at random from all tables with the released margins."""

from discreet.protect.simulation.simulate import Simulation, simulation

__all__ = ["Simulation", "simulation"]
