"""The GPUs of virtual machines: what they are, and how busy their processes would keep them."""

from localcloud.machines.gpus.attribution import Sample, utilization
from localcloud.machines.gpus.cards import Card, cards_of
from localcloud.machines.gpus.meter import Meter

__all__ = ["Card", "Meter", "Sample", "cards_of", "utilization"]
