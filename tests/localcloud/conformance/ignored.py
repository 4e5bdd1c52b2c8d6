"""What the local cloud takes and does not act on, each with the reason why that is no lie."""

from collections.abc import Mapping, Sequence

IGNORED: Mapping[str, Sequence[tuple[Sequence[str], str]]] = {
    "storage": (
        (("userProject",), "nobody is billed"),
        (("maxBytesRewrittenPerCall", "rewriteToken"), "a rewrite is done in one call"),
        (("includeFoldersAsPrefixes",), "there are no folders"),
        (("pageSize",), "there are no managed folders"),
        (("returnPartialSuccess",), "every location answers"),
        (("optionsRequestedPolicyVersion",), "a policy is kept as it was written"),
        (("Bucket.lifecycle",), "rules are checked and kept, and nothing is deleted by them"),
        (
            ("Bucket.cors", "Bucket.website", "Bucket.logging", "Bucket.rpo", "Bucket.customPlacementConfig"),
            "kept: no web page may call, no usage log is written, and all of it lies on this machine",
        ),
    ),
    "pubsub": ((("options.requestedPolicyVersion",), "a policy is kept as it was written"),),
    "compute": (
        (("forceCreate",), "an image can always be made, whatever its disk is attached to"),
        (("noGracefulShutdown",), "no graceful shutdown is done that could be left out"),
    ),
    "cloudresourcemanager": (
        (
            ("GetIamPolicyRequest.options", "Policy.bindings"),
            "a policy is kept as it was written, and the permissions of accounts do not follow from it",
        ),
    ),
    "logging": (
        (("uniqueWriterIdentity",), "every sink has the same writer, and nobody has to let it write"),
    ),
}
"""By API: query parameters of methods that are done, and members of bodies as `Message.member`."""
