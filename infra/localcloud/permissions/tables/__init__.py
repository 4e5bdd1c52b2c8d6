"""Every API method the local cloud offers, and the permissions that Google asks for it."""

from localcloud.permissions.tables.compute import COMPUTE
from localcloud.permissions.tables.messages import METHODS
from localcloud.permissions.tables.others import OTHERS
from localcloud.permissions.tables.row import Key, PermissionAsk, Rows
from localcloud.permissions.tables.storage import STORAGE

ROUTES: Rows = {**STORAGE, **COMPUTE, **OTHERS}
"""By verb and path, as the routes spell it."""

__all__ = ["METHODS", "ROUTES", "Key", "PermissionAsk", "Rows"]
