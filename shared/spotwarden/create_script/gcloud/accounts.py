"""The service account of a machine and what it may do."""

import re
from typing import Any

from spotwarden.create_script.gcloud.defaults import SCOPES
from spotwarden.create_script.gcloud.scene import GcloudScene

_EMAIL = re.compile(r"[a-zA-Z0-9_.+-]+@[a-zA-Z0-9-]+\.[a-zA-Z0-9-.]+$")
_FLAGS = ("scopes", "no-scopes", "service-account", "no-service-account")


def service_accounts(scene: GcloudScene) -> list[dict[str, Any]] | None:
    """Give the account with its scopes; None for a machine without, or where a template decides.

    The project is taken to have its default service account: whether it has is known to the API only.
    """
    args = scene.args
    if args["no-service-account"] and not args["no-scopes"]:
        raise args.refusal("no-service-account", "needs --no-scopes beside it")
    if scene.from_template and not args.given(*_FLAGS):
        return None
    email = args["service-account"] if args["service-account"] is not None else "default"
    scopes = [] if args["no-scopes"] else args["scopes"]
    if scopes is None:
        scopes = ["default"]
    if not scopes:
        return [{"email": email}] if email != "default" else None
    if email != "default" and not _EMAIL.match(email):
        raise args.refusal("service-account", f"{email!r} is neither an e-mail address nor the word default")
    return [{"email": email, "scopes": sorted(url for scope in scopes for url in _urls(scene, scope))}]


def _urls(scene: GcloudScene, scope: str) -> tuple[str, ...]:
    if not scope:
        raise scene.args.refusal("scopes", "a scope may not be empty")
    if "=" in scope:
        raise scene.args.refusal("scopes", f"{scope!r} names an account; give that by --service-account")
    return SCOPES.get(scope, (scope,))
