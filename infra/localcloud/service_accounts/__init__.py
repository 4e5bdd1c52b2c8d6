"""Identity and Access Management of the local cloud: the service accounts of the project."""

from localcloud.service_accounts.service import ServiceAccounts

__all__ = ["ServiceAccounts"]
