"""The project and its functions, as Resource Manager, Cloud Functions and Cloud Run show them."""

from localcloud.deployed.service import DeployedService
from localcloud.deployed.shown import DeployedFunction

__all__ = ["DeployedFunction", "DeployedService"]
