"""From a request for an instance to its resource: what is checked, resolved and filled in."""

from localcloud.compute.build.instance import Built, build, with_base

__all__ = ["Built", "build", "with_base"]
