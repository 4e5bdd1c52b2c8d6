"""The methods of the APIs that are served: which one a request means, and which parameters are refused."""

from localcloud.methods.known import known_method
from localcloud.methods.refusing import refusing

__all__ = ["known_method", "refusing"]
