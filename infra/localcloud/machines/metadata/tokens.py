"""What a virtual machine's service account can show: access tokens and identity tokens.

Both are for the local cloud only. An access token is `local-EMAIL`; an identity token has the claims that
Compute Engine's have ("Verifying the identity of instances"), and our own key signs it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from localcloud.machines.metadata.tree import MetadataPlace
from localcloud.ports import Resource
from localcloud.signing import signing_key, standard_claims

LIFE_SECONDS = 3599


def access_token(email: str) -> dict[str, str | int]:
    """The answer of `service-accounts/…/token`."""
    return {"access_token": f"local-{email}", "expires_in": LIFE_SECONDS, "token_type": "Bearer"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """An identity token that was asked for: `full` tells about the instance, `licenses` adds its licenses."""

    email: str
    audience: str
    full: bool
    licenses: bool


def identity_token(instance: Resource, wanted: Wanted, now: datetime) -> str:
    """The answer of `service-accounts/…/identity`: a JSON Web Token."""
    claims = standard_claims(wanted.email, wanted.audience, now)
    if wanted.full:
        claims["google"] = {"compute_engine": _engine(instance, licenses=wanted.licenses)}
    return signing_key().sign(claims)


def _engine(instance: Resource, *, licenses: bool) -> dict[str, Any]:
    place = MetadataPlace.of(instance)
    claims: dict[str, Any] = {"instance_id": str(instance["id"]), "instance_name": instance["name"]}
    claims |= {"project_id": place.project, "project_number": place.number, "zone": place.zone}
    if created := instance.get("creationTimestamp"):
        claims["instance_creation_timestamp"] = int(datetime.fromisoformat(created).timestamp())
    return claims | ({"license_id": []} if licenses else {})
