"""Who asked for an operation: Compute Engine itself, a function of ours, another account, a person."""

from enum import Enum

OUR_ACCOUNT = "spotwarden"
"""Our functions run as `spotwarden-<function>@…` (`infra/terraform/identities.tf`)."""
ANSWERS = f"{OUR_ACCOUNT}-answer-notice"
"""The account of the function that does what a person asks for by a link in a message."""
RULES = frozenset(
    f"{OUR_ACCOUNT}-{function}"
    for function in ("reap-vms", "flag-idle-gpus", "cap-runtime", "check-compliance")
)
"""The accounts of the functions that stop or delete VMs by a rule, after a warning that arrived."""
_SERVICE_ACCOUNT = ".gserviceaccount.com"
_OUTSIDE_PEOPLE = "/workforcePools/"
"""How people of an outside identity provider are written: `alice (global/workforcePools/…)`."""


class Actor(Enum):
    """Who an operation's `user` is (Google: the field `user` of `Operation` in the Compute Engine API)."""

    GOOGLE = "Compute Engine"
    OURS = "Spotwarden"
    MACHINE = "a service account"
    PERSON = "a person"


def actor(user: str) -> Actor:
    """Say who this is; what looks like nobody's name is Compute Engine's own, which writes `system`."""
    account, at, domain = user.partition("@")
    if at and domain.endswith(_SERVICE_ACCOUNT):
        ours = account == OUR_ACCOUNT or account.startswith(f"{OUR_ACCOUNT}-")
        return Actor.OURS if ours else Actor.MACHINE
    return Actor.PERSON if at or _OUTSIDE_PEOPLE in user else Actor.GOOGLE


def is_meant(user: str) -> bool:
    """Whether a job is to end by this: a person did it, or asked for it by a link, or a rule of ours did."""
    account = user.partition("@")[0]
    return actor(user) is Actor.PERSON or (actor(user) is Actor.OURS and account in {ANSWERS, *RULES})
