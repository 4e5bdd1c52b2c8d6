"""The methods of the APIs that are served: which one a request means, what is refused, what is answered."""

from localcloud.methods.choosing import CHOSEN, choose, choosing
from localcloud.methods.known import known_method
from localcloud.methods.refusing import refusing

__all__ = ["CHOSEN", "choose", "choosing", "known_method", "refusing"]
