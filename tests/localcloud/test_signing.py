"""Identity tokens: what Google's verifier takes, and what it does not."""

import base64
import json
from datetime import timedelta

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256

from localcloud.clock import machine_now
from localcloud.signing import JWKS_PATH, SigningKey, signing_key
from tests.localcloud.verifying import fetched, verified

EMAIL, AUDIENCE = "push@demo.iam.gserviceaccount.com", "https://me.example.com"


@pytest.fixture(scope="module")
def key() -> SigningKey:
    """The key of this process."""
    return signing_key()


def test_googles_verifier_takes_a_token(key: SigningKey):
    """With every claim that Google documents."""
    claims = verified(key.token(EMAIL, AUDIENCE, machine_now()), AUDIENCE)
    assert (claims["iss"], claims["aud"]) == ("https://accounts.google.com", AUDIENCE)
    assert (claims["email"], claims["email_verified"]) == (EMAIL, True)
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["azp"] == claims["sub"]
    assert len(claims["sub"]) == 21
    assert claims["sub"].isdigit()


def test_an_account_has_the_same_number_at_any_time_and_another_has_another(key: SigningKey):
    """As `sub` is meant: who has seen it once knows the account again."""
    first = key.token(EMAIL, AUDIENCE, machine_now())
    again = key.token(EMAIL, "another", machine_now())
    other = key.token("x@example.com", AUDIENCE, machine_now())
    assert verified(first, AUDIENCE)["sub"] == verified(again, "another")["sub"]
    assert verified(other, AUDIENCE)["sub"] != verified(first, AUDIENCE)["sub"]


def test_a_token_for_another_audience_is_not_taken(key: SigningKey):
    """The verifier compares the audience."""
    with pytest.raises(ValueError, match="wrong audience"):
        verified(key.token(EMAIL, AUDIENCE, machine_now()), "https://you.example.com")


def test_a_token_whose_hour_is_over_is_not_taken(key: SigningKey):
    """`exp` is one hour after `iat`."""
    old = machine_now() - timedelta(hours=1, seconds=1)
    with pytest.raises(ValueError, match="expired"):
        verified(SigningKey.token(key, EMAIL, "expired", old), "expired")


def test_a_token_that_somebody_changed_is_not_taken(key: SigningKey):
    """The signature is over head and claims."""
    head, claims, signature = key.token(EMAIL, AUDIENCE, machine_now()).split(".")
    read = json.loads(base64.urlsafe_b64decode(claims + "==")) | {"email": "root@example.com"}
    forged = base64.urlsafe_b64encode(json.dumps(read).encode()).decode().rstrip("=")
    with pytest.raises(ValueError, match="signature"):
        verified(f"{head}.{forged}.{signature}", AUDIENCE)


def test_a_token_of_another_key_is_not_taken():
    """Its key id has no certificate."""
    with pytest.raises(ValueError, match="ertificate for key id"):
        verified(SigningKey().token(EMAIL, AUDIENCE, machine_now()), AUDIENCE)


def test_the_set_of_keys_verifies_it_too(key: SigningKey):
    """JWKS, as libraries of OpenID Connect read it (RFC 7517, RFC 7518)."""
    (found,) = fetched(JWKS_PATH).json()["keys"]
    number, exponent = (
        int.from_bytes(base64.urlsafe_b64decode(found[part] + "=="), "big") for part in ("n", "e")
    )
    said, _, signature = key.token(EMAIL, AUDIENCE, machine_now()).rpartition(".")
    head = json.loads(base64.urlsafe_b64decode(said.partition(".")[0] + "=="))
    assert head == {"alg": found["alg"], "kid": found["kid"], "typ": "JWT"}
    public, raw = RSAPublicNumbers(exponent, number).public_key(), base64.urlsafe_b64decode(signature + "==")
    public.verify(raw, said.encode(), PKCS1v15(), SHA256())
    with pytest.raises(InvalidSignature):
        public.verify(raw, said.encode() + b"x", PKCS1v15(), SHA256())


def test_a_young_token_is_sent_again_and_an_old_one_is_not(key: SigningKey):
    """A push costs no signature of its own."""
    now = machine_now()
    first = key.token(EMAIL, "again", now)
    assert key.token(EMAIL, "again", now + timedelta(minutes=29)) == first
    later = key.token(EMAIL, "again", now + timedelta(minutes=30))
    assert later != first
    assert key.token(EMAIL, "again", now) != later, "one from the future is sent to nobody"
