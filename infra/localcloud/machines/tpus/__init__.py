"""The TPUs of virtual machines: how many chips, and how busy their processes would keep them."""

from localcloud.machines.tpus.chips import chips_of, worked_on
from localcloud.machines.tpus.report import TpuReport

__all__ = ["TpuReport", "chips_of", "worked_on"]
