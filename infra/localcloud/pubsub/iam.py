"""Who may do what with a topic or subscription: kept and given back, not enforced here."""

import zlib
from collections.abc import Iterator

from google.iam.v1 import iam_policy_pb2, policy_pb2

from localcloud.pubsub.registry import PubSubRegistry
from localcloud.rpc import Method, Raw, RpcError, table

SERVICE = "google.iam.v1.IAMPolicy"


def _rules(verb: str, call: str, body: str = "") -> str:
    kinds = ("topics", "subscriptions")
    return " | ".join(f"{verb} /v1/{{resource=projects/*/{kind}/*}}:{call}{body}" for kind in kinds)


ROWS = (
    (
        "SetIamPolicy",
        iam_policy_pb2.SetIamPolicyRequest,
        policy_pb2.Policy,
        _rules("POST", "setIamPolicy", " *"),
    ),
    ("GetIamPolicy", iam_policy_pb2.GetIamPolicyRequest, policy_pb2.Policy, _rules("GET", "getIamPolicy")),
    (
        "TestIamPermissions",
        iam_policy_pb2.TestIamPermissionsRequest,
        iam_policy_pb2.TestIamPermissionsResponse,
        _rules("POST", "testIamPermissions", " *"),
    ),
)


class Policies:
    """The IAM policies of topics and subscriptions."""

    def __init__(self, registry: PubSubRegistry) -> None:
        self._registry = registry
        self._policies: dict[str, Raw] = {}

    def methods(self) -> Iterator[Method]:
        """The table of methods."""
        return table(SERVICE, self, ROWS)

    def get_iam_policy(self, request: Raw) -> Raw:
        """The policy of a resource; an empty one as long as none was set."""
        self._check(request.resource)
        return self._policies.get(request.resource) or policy_pb2.Policy(etag=b"ACAB")

    def set_iam_policy(self, request: Raw) -> Raw:
        """Replace a policy; an etag that is given must be that of the present one."""
        present = self.get_iam_policy(request)
        if request.policy.etag not in (b"", present.etag):
            text = "There were concurrent policy changes. Please retry the whole read-modify-write."
            raise RpcError("ABORTED", text)
        policy = policy_pb2.Policy()
        policy.CopyFrom(request.policy)
        policy.etag = b"%08x" % zlib.crc32(policy.SerializeToString(deterministic=True))
        self._policies[request.resource] = policy
        return policy

    def test_iam_permissions(self, request: Raw) -> Raw:
        """Every permission that is asked for: the local cloud's caller is its owner."""
        self._check(request.resource)
        return iam_policy_pb2.TestIamPermissionsResponse(permissions=request.permissions)

    def _check(self, name: str) -> None:
        if "/topics/" in name:
            self._registry.topic(name)
        else:
            self._registry.subscription(name)
