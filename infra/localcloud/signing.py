"""Identity tokens that a verifier accepts: RS256, signed by a key of this process, with public certificates.

Claims as in "Authentication for push subscriptions" and "Verifying the identity of instances". They go by
this machine's time, as those who verify them do, and not by the cloud's, which can travel.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache, cached_property
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import machine_now
from localcloud.http import Json

ISSUER = "https://accounts.google.com"
X509_PATH = "/oauth2/v1/certs"
JWKS_PATH = "/oauth2/v3/certs"
"""Where www.googleapis.com has the same."""
LIFE = timedelta(hours=1)
RENEWED = timedelta(minutes=30)
"""A token is sent again for so long; Google's may be up to an hour old."""
BITS = 2048
EXPONENT = 65537
CERTIFICATE_LIFE = timedelta(days=16)
MOST_KEPT = 1000


class SigningKey:
    """A key, made at its first use: that takes a tenth of a second."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], tuple[datetime, str]] = {}

    @cached_property
    def _private(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric import rsa

        return rsa.generate_private_key(public_exponent=EXPONENT, key_size=BITS)

    @cached_property
    def id(self) -> str:
        """What the head of a token calls the key."""
        return hashlib.sha1(self._modulus, usedforsecurity=False).hexdigest()

    @property
    def _modulus(self) -> bytes:
        return _bytes(self._private.public_key().public_numbers().n)

    def token(self, email: str, audience: str, now: datetime) -> str:
        """The token that this account shows to this audience: the last one, while that is young."""
        made, text = self._sent.get((email, audience), (now, ""))
        if not text or not timedelta(0) <= now - made < RENEWED:
            made, text = now, self.sign(standard_claims(email, audience, now))
        if len(self._sent) >= MOST_KEPT:
            self._sent.clear()
        self._sent[email, audience] = made, text
        return text

    def sign(self, claims: Mapping[str, Any]) -> str:
        """A JSON Web Token of these claims."""
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        parts = [{"alg": "RS256", "kid": self.id, "typ": "JWT"}, claims]
        said = ".".join(_text(json.dumps(part).encode()) for part in parts)
        return f"{said}.{_text(self._private.sign(said.encode(), PKCS1v15(), SHA256()))}"

    def jwks(self) -> dict[str, Any]:
        """The public key as a JSON Web Key Set."""
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.id}
        return {"keys": [{**key, "n": _text(self._modulus), "e": _text(_bytes(EXPONENT))}]}

    @cached_property
    def certificate(self) -> str:
        """The public key as an x509 certificate in PEM, signed by itself."""
        from cryptography import x509
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.serialization import Encoding

        name = x509.Name.from_rfc4514_string("CN=federated-signon.system.gserviceaccount.com")
        since = machine_now() - timedelta(days=1)
        certificate = x509.CertificateBuilder(
            issuer_name=name,
            subject_name=name,
            public_key=self._private.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=since,
            not_valid_after=since + CERTIFICATE_LIFE,
        ).sign(self._private, SHA256())
        return certificate.public_bytes(Encoding.PEM).decode()


@cache
def signing_key() -> SigningKey:
    """The key of this process."""
    return SigningKey()


def standard_claims(email: str, audience: str, now: datetime) -> dict[str, Any]:
    """What Google says of a service account to this audience."""
    number = account_number(email)
    issued = int(now.timestamp())
    return {
        "aud": audience,
        "azp": number,
        "email": email,
        "email_verified": True,
        "exp": issued + int(LIFE.total_seconds()),
        "iat": issued,
        "iss": ISSUER,
        "sub": number,
    }


def account_number(email: str) -> str:
    """The unique id of a service account: 21 digits, the same for an address at any time."""
    return f"1{zlib.crc32(email.encode()):010}{zlib.adler32(email.encode()):010}"


def certificate_routes() -> list[BaseRoute]:
    """The public key in both forms: JWKS, and x509 by key id as google-auth fetches it."""
    return [Route(X509_PATH, _x509), Route(JWKS_PATH, _jwks)]


async def _x509(_request: Request) -> Response:
    key = signing_key()
    return Json({key.id: key.certificate})


async def _jwks(_request: Request) -> Response:
    return Json(signing_key().jwks())


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
