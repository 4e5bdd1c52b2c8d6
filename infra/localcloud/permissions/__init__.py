"""Least privilege on this machine: each function may do what `infra/functions.yaml` grants it, and no more.

A function reaches the services through a door of its own, which tells who calls; whoever comes by the main
entrance is the owner, and may do everything but what `Denials` takes away.
"""

from localcloud.permissions.account import Account, Need
from localcloud.permissions.caller import OWNER, call_as, caller, demand, entrance, holds
from localcloud.permissions.methods import check
from localcloud.permissions.methods import checked as checked_methods
from localcloud.permissions.routes import checked as checked_routes

__all__ = [
    "OWNER",
    "Account",
    "Need",
    "call_as",
    "caller",
    "check",
    "checked_methods",
    "checked_routes",
    "demand",
    "entrance",
    "holds",
]
