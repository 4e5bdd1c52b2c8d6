"""Who a client on this machine is: the metadata server and the token endpoint of the local cloud itself.

With `GCE_METADATA_HOST` at this port, `google.auth.default()` works as it does on Google Cloud. Virtual
machines have metadata servers of their own. The certificates of its identity tokens are here, too.
"""

import base64
import json
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import machine_now
from localcloud.errors import ApiError
from localcloud.http import Json
from localcloud.permissions import caller
from localcloud.project import number_of
from localcloud.signing import certificate_routes, signing_key

FLAVOR = {"Metadata-Flavor": "Google"}
TOKEN_SECONDS = 3600
SCOPES = "https://www.googleapis.com/auth/cloud-platform"


class Identity:
    """Answers for the service account of whoever asks; the owner of the project is given another."""

    def __init__(self, *, project: str) -> None:
        self._project = project

    @property
    def _email(self) -> str:
        account = caller()
        return account.email if account else f"functions@{self._project}.iam.gserviceaccount.com"

    def routes(self) -> list[BaseRoute]:
        """The paths that google-auth asks."""
        base = "/computeMetadata/v1"
        return [
            Route("/", self._root),
            Route("/token", self._token, methods=["POST"]),
            Route(f"{base}/", self._root),
            Route(f"{base}/instance", self._instance),
            Route(f"{base}/instance/", self._instance),
            Route(f"{base}/project/project-id", self._project_id),
            Route(f"{base}/project/numeric-project-id", self._project_number),
            Route(f"{base}/universe/universe-domain", self._universe),
            Route(f"{base}/instance/service-accounts/{{account}}/token", self._metadata_token),
            Route(f"{base}/instance/service-accounts/{{account}}/identity", self._identity),
            Route(f"{base}/instance/service-accounts/{{account}}/", self._account),
            *certificate_routes(),
        ]

    async def _root(self, _request: Request) -> Response:
        return PlainTextResponse("computeMetadata/\n", headers=FLAVOR)

    async def _instance(self, request: Request) -> Response:
        """What there is of an instance: Google's library for Node asks so whether there is a server."""
        _asked_rightly(request)
        return PlainTextResponse("service-accounts/\n", headers=FLAVOR)

    async def _project_id(self, request: Request) -> Response:
        _asked_rightly(request)
        return PlainTextResponse(self._project, headers=FLAVOR)

    async def _project_number(self, request: Request) -> Response:
        _asked_rightly(request)
        return PlainTextResponse(number_of(self._project), headers=FLAVOR)

    async def _universe(self, request: Request) -> Response:
        _asked_rightly(request)
        return PlainTextResponse("googleapis.com", headers=FLAVOR)

    async def _account(self, request: Request) -> Response:
        _asked_rightly(request)
        account = {"aliases": ["default"], "email": self._email, "scopes": [SCOPES]}
        return Json(account, headers=FLAVOR)

    async def _metadata_token(self, request: Request) -> Response:
        _asked_rightly(request)
        return Json(self._grant(self._email), headers=FLAVOR)

    async def _identity(self, request: Request) -> Response:
        _asked_rightly(request)
        audience = request.query_params.get("audience", "")
        if not audience:
            raise ApiError(400, "required", "non-empty audience parameter required", location="audience")
        token = signing_key().token(self._email, audience, machine_now())
        return PlainTextResponse(token, headers=FLAVOR)

    async def _token(self, request: Request) -> Response:
        """A token for the service account whose key has signed the assertion, else for whoever asks."""
        form = dict(parse_qsl((await request.body()).decode(errors="replace")))
        return Json(self._grant(_issuer(form.get("assertion", "")) or self._email))

    def _grant(self, email: str) -> dict[str, str | int]:
        return {"access_token": f"local-{email}", "expires_in": TOKEN_SECONDS, "token_type": "Bearer"}


def _issuer(assertion: str) -> str:
    """The account that a signed assertion (RFC 7523) names; the signature is not looked at."""
    _, _, rest = assertion.partition(".")
    raw = rest.partition(".")[0]
    try:
        told = json.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))
    except ValueError:
        return ""
    email = told.get("iss") if isinstance(told, dict) else ""
    return email if isinstance(email, str) and "@" in email and email.isprintable() else ""


def _asked_rightly(request: Request) -> None:
    """Refuse what the real server refuses: a question that a browser could have been tricked into."""
    if request.headers.get("metadata-flavor") != "Google":
        raise ApiError(403, "forbidden", "Missing Metadata-Flavor:Google header.")
