"""The REST interface of Compute Engine v1, and the knobs of the local cloud."""

from localcloud.compute.api.admin import admin_routes
from localcloud.compute.api.routes import routes

__all__ = ["admin_routes", "routes"]
