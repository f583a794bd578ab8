"""Tables simulated from random networks, to test what a method finds when the true graph is known."""

from arbornet.simulate.mixed import BLOWN_UP as BLOWN_UP
from arbornet.simulate.mixed import Kind as Kind
from arbornet.simulate.mixed import Simulated, mixed_network
from arbornet.simulate.networks import SimulatedNetwork, network
from arbornet.simulate.styles import STYLES, Style

__all__ = ["STYLES", "Simulated", "SimulatedNetwork", "Style", "mixed_network", "network"]


def __dir__() -> list[str]:
    return sorted(__all__)
