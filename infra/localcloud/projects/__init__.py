"""Cloud Resource Manager of the local cloud: the one project there is, and its IAM policy."""

from localcloud.projects.service import ProjectService

__all__ = ["ProjectService"]
