"""How each service says no, in the words that people search the web for."""

from localcloud.errors import ApiError
from localcloud.rpc.codes import RpcError

ACT_AS = "iam.serviceAccounts.actAs"


def refusal(email: str, permission: str, on: str) -> ApiError:
    """The error for somebody who lacks this permission on this resource."""
    service = permission.partition(".")[0]
    if service == "compute":
        return ApiError(403, "forbidden", f"Required '{permission}' permission for '{on}'")
    if permission == ACT_AS:
        return ApiError(403, "forbidden", _act_as(email, on))
    if service == "storage":
        return ApiError(403, "forbidden", _storage(email, permission))
    if service == "pubsub":
        return RpcError("PERMISSION_DENIED", "User not authorized to perform this action.")
    if service == "monitoring":
        return RpcError(
            "PERMISSION_DENIED", f"Permission {permission} denied (or the resource may not exist)."
        )
    message = f"Permission '{permission}' denied on resource '{on}' (or it may not exist)."
    return RpcError("PERMISSION_DENIED", message)


def _act_as(email: str, account: str) -> str:
    # Google says so at the end of the operation, as SERVICE_ACCOUNT_ACCESS_DENIED; here it is said at once.
    return (
        f"The user does not have access to service account '{account}'.  User: '{email}'. "
        "Ask a project owner to grant you the iam.serviceAccountUser role on the service account."
    )


def _storage(email: str, permission: str) -> str:
    kind = (
        "object"
        if permission.startswith("storage.objects.") and not permission.endswith(".list")
        else "bucket"
    )
    return (
        f"{email} does not have {permission} access to the Google Cloud Storage {kind}. "
        f"Permission '{permission}' denied on resource (or it may not exist)."
    )
