"""Service accounts, which provisioners make for the VMs that they start."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.localcloud.stand import PROJECT, Stand
from tests.long import long

BASE = f"/v1/projects/{PROJECT}/serviceAccounts"
DEFAULT = "100000000007-compute@developer.gserviceaccount.com"
EMAIL = f"trainer@{PROJECT}.iam.gserviceaccount.com"


def create(http: httpx.Client, name: str = "trainer", **fields: Any) -> httpx.Response:
    """The answer to `create`."""
    return http.post(BASE, json={"accountId": name, "serviceAccount": fields})


def emails(http: httpx.Client) -> list[str]:
    """The addresses of all."""
    return [account["email"] for account in http.get(BASE).json()["accounts"]]


def said(answer: httpx.Response) -> tuple[int, str]:
    """The code and the message of a refusal."""
    return answer.status_code, answer.json()["error"]["message"]


def test_a_new_project_has_the_account_of_its_vms(http: httpx.Client):
    """Compute Engine's default one."""
    assert emails(http) == [DEFAULT]


def test_an_account_is_made_found_and_deleted(http: httpx.Client):
    """By its address, by its number, and in any project; then it is gone."""
    made = create(http, displayName="Trainer", description="Trains").json()
    assert (made["email"], made["displayName"], made["description"]) == (EMAIL, "Trainer", "Trains")
    assert made["name"] == f"projects/{PROJECT}/serviceAccounts/{EMAIL}"
    for path in (f"{BASE}/{EMAIL}", f"{BASE}/{made['uniqueId']}", f"/v1/projects/-/serviceAccounts/{EMAIL}"):
        assert http.get(path).json() == made
    assert emails(http) == [DEFAULT, EMAIL]
    assert http.delete(f"{BASE}/{EMAIL}").json() == {}
    assert said(http.get(f"{BASE}/{EMAIL}")) == (404, "Unknown service account")
    assert said(http.delete(f"{BASE}/{EMAIL}")) == (404, "Unknown service account")


def test_an_account_is_made_once(http: httpx.Client):
    """A second one of the name is refused, and the first stays as it is."""
    made = create(http, displayName="first").json()
    assert said(create(http, displayName="second")) == (
        409,
        f"Service account trainer already exists within project projects/{PROJECT}.",
    )
    assert http.get(f"{BASE}/{EMAIL}").json() == made


@pytest.mark.parametrize("name", ["", "short", "Trainer", "1trainer", "trainer-", "a" * 31])
def test_a_name_that_cannot_be_is_refused(http: httpx.Client, name: str):
    """Of 6 to 30 letters, digits and hyphens."""
    assert create(http, name).status_code == 400


@pytest.mark.parametrize("name", ["sixsix", "a" * 30])
def test_a_name_at_the_limit_is_taken(http: httpx.Client, name: str):
    """Both sides of it."""
    assert create(http, name).status_code == 200


def test_accounts_come_in_pages(http: httpx.Client):
    """Twenty, where no size is said, and each is on one of them."""
    for number in range(30):
        create(http, f"trainer-{number}")
    first = http.get(BASE).json()
    rest = http.get(BASE, params={"pageToken": first["nextPageToken"], "pageSize": 100}).json()
    found = [account["email"] for page in (first, rest) for account in page["accounts"]]
    assert (len(first["accounts"]), len(set(found)), "nextPageToken" in rest) == (20, 31, False)
    assert http.get(BASE, params={"pageSize": "x"}).status_code == 400


@pytest.mark.parametrize("path", ["", f"/{EMAIL}"])
def test_of_another_project_nobody_is_told(http: httpx.Client, path: str):
    """As on Google Cloud: they may not be seen."""
    answer = http.get(f"/v1/projects/another/serviceAccounts{path}")
    assert said(answer) == (403, "The caller does not have permission")


@long
@pytest.mark.skipif(not shutil.which("gcloud"), reason="gcloud is not installed")
def test_gcloud_makes_an_account(stand: Stand, tmp_path: Path):
    """And finds it."""
    stand.gcloud(tmp_path, "iam", "service-accounts", "create", "trainer", "--display-name=Trainer")
    shown = stand.gcloud(
        tmp_path, "iam", "service-accounts", "describe", EMAIL, "--format=value(displayName)"
    )
    assert shown.strip() == "Trainer"
