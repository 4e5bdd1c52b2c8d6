"""Flags that exclude or need one another, as gcloud's parser knows them before it looks at any value."""

from spotwarden.create_script.gcloud.argv import Args
from spotwarden.create_script.gcloud.letters import BULK

# Of each of these at most one may stand on the command line.
EXCLUSIVE = (
    ("accelerator-topology", "max-topology-distance"),
    ("address", "no-address"),
    ("confidential-compute", "confidential-compute-type"),
    ("image", "image-family", "source-instant-snapshot", "source-snapshot"),
    ("name-pattern", "predefined-names"),
    ("network-interface", "network-interface-from-file", "network-interface-from-json-string"),
    ("no-public-dns", "public-dns"),
    ("no-public-ptr", "public-ptr"),
    ("no-public-ptr-domain", "public-ptr-domain"),
    ("no-scopes", "scopes"),
    ("no-service-account", "service-account"),
    ("node", "node-affinity-file", "node-group"),
    ("region", "zone"),
)
# One of each of these must stand there for `bulk create`.
NEEDED_FOR_BULK = (("name-pattern", "predefined-names"), ("region", "zone"))
# If any of the right ones is there, those on the left must be, too.
TOGETHER = (
    (("boot-disk-kms-key",), ("boot-disk-kms-keyring", "boot-disk-kms-location", "boot-disk-kms-project")),
    (("custom-cpu", "custom-memory"), ("custom-cpu", "custom-memory", "custom-extensions", "custom-vm-type")),
    (("instance-kms-key",), ("instance-kms-keyring", "instance-kms-location", "instance-kms-project")),
)


def check(args: Args, command: str) -> None:
    """Raise `Refused` for flags that cannot stand together or alone."""
    for group in EXCLUSIVE:
        given = [flag for flag in group if args.given(flag)]
        if len(given) > 1:
            raise args.refusal(given[1], f"can't be used with --{given[0]}; leave one of them out")
    for group in NEEDED_FOR_BULK if command == BULK else ():
        if not args.given(*group):
            raise args.refusal(group[0], f"is missing; add it or --{group[1]}")
    for needed, group in TOGETHER:
        missing = [flag for flag in needed if not args.given(flag)]
        if missing and args.given(*group):
            raise args.refusal(
                missing[0], f"is required with --{next(flag for flag in group if args.given(flag))}"
            )
