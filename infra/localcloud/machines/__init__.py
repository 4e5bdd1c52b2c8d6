"""Virtual machines that are processes of this computer; the README beside says how far that goes."""

from localcloud.machines.no_machines import NoMachines
from localcloud.machines.process_machines import ProcessMachines

__all__ = ["NoMachines", "ProcessMachines"]
