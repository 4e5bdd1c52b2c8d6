"""HMAC keys of service accounts."""

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage

ALL = "/storage/v1/projects/project/hmacKeys"
EMAIL = "ada@project.iam.gserviceaccount.com"


def test_a_key_is_made_found_and_deleted(client: storage.Client):
    """Its secret is told once; before it is deleted it must be inactive."""
    key, secret = client.create_hmac_key(EMAIL)
    assert (len(secret), len(key.access_id), key.state) == (40, 61, "ACTIVE")
    assert [found.access_id for found in client.list_hmac_keys()] == [key.access_id]
    with pytest.raises(exceptions.BadRequest):
        client._connection.api_request("DELETE", f"/projects/project/hmacKeys/{key.access_id}")
    key.state = "INACTIVE"
    key.update()
    key.delete()
    assert not key.exists()
    assert [*client.list_hmac_keys()] == []
    assert [found.state for found in client.list_hmac_keys(show_deleted_keys=True)] == ["DELETED"]


def test_keys_are_listed_in_pages_and_by_account(client: storage.Client, http: httpx.Client):
    """A page says where the next one begins."""
    made = {client.create_hmac_key(EMAIL)[0].access_id for _ in range(3)}
    other, _ = client.create_hmac_key("eve@project.iam.gserviceaccount.com")
    assert {found.access_id for found in client.list_hmac_keys(service_account_email=EMAIL)} == made
    first = http.get(ALL, params={"maxResults": 3}).json()
    rest = http.get(ALL, params={"maxResults": 3, "pageToken": first["nextPageToken"]}).json()
    assert {item["accessId"] for item in first["items"] + rest["items"]} == {*made, other.access_id}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"state": "INACTIVE"}, 200),
        ({"state": "INACTIVE", "etag": "other"}, 412),
        ({"state": "DELETED"}, 400),
        ({}, 400),
    ],
)
def test_a_key_is_changed_by_one_who_knows_it_as_it_is(client: storage.Client, http, body, status):
    """Where an entity tag is given, it must be that of the key."""
    key, _ = client.create_hmac_key(EMAIL)
    assert http.put(f"{ALL}/{key.access_id}", json=body).status_code == status


def test_a_key_belongs_to_an_account(http: httpx.Client):
    """And one that was never made is not there."""
    assert http.post(ALL).status_code == 400
    assert http.get(f"{ALL}/nothing").status_code == 404
