"""The project and its IAM policy, as tools ask for them before they do anything else."""

import shutil
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from localcloud.permissions.account import Account
from tests.localcloud.stand import PROJECT, Stand
from tests.long import long

ITEM = f"/v1/projects/{PROJECT}"
OWNER = {"role": "roles/owner", "members": ["user:me@example.com"]}
ADMIN = {"role": "roles/compute.admin", "members": ["serviceAccount:a@example.com"]}


def policy(http: httpx.Client) -> dict[str, Any]:
    """The policy as it is."""
    answer = http.post(f"{ITEM}:getIamPolicy", json={"options": {"requestedPolicyVersion": 3}})
    return answer.raise_for_status().json()


def set_policy(http: httpx.Client, **body: Any) -> httpx.Response:
    """The answer to `setIamPolicy`."""
    return http.post(f"{ITEM}:setIamPolicy", json=body)


def said(answer: httpx.Response) -> tuple[int, str]:
    """The code and the message of a refusal."""
    error = answer.json()["error"]
    assert answer.status_code == error["code"]
    return answer.status_code, error["message"]


def test_a_project_is_found_by_its_id_and_by_its_number(http: httpx.Client):
    """And in the list of all, of which there is one page."""
    project = http.get(ITEM).json()
    assert (project["projectId"], project["projectNumber"], project["lifecycleState"]) == (
        PROJECT,
        "100000000007",
        "ACTIVE",
    )
    assert http.get("/v1/projects/100000000007").json() == project
    assert http.get("/v1/projects", params={"pageSize": 1}).json() == {"projects": [project]}


@pytest.mark.parametrize(("verb", "path"), [("GET", ""), ("POST", ":getIamPolicy")])
def test_of_another_project_nobody_is_told_whether_it_is_there(http: httpx.Client, verb: str, path: str):
    """As on Google Cloud: it may not be seen."""
    answer = http.request(verb, f"/v1/projects/another{path}", headers={"content-type": "application/json"})
    assert said(answer) == (403, "The caller does not have permission")


@pytest.mark.parametrize("parameters", [{"pageSize": "x"}, {"pageToken": "?"}])
def test_a_page_that_cannot_be_is_refused(http: httpx.Client, parameters: dict[str, str]):
    """A size that is no number, a token that no page handed out."""
    assert http.get("/v1/projects", params=parameters).status_code == 400


def test_a_new_project_is_its_owners(http: httpx.Client):
    """One binding, a version and an etag."""
    found = policy(http)
    assert (found["bindings"], found["version"]) == ([OWNER], 1)
    assert found["etag"]


def test_a_policy_is_read_changed_and_written(http: httpx.Client):
    """With another etag afterwards; who read it before that is told to read it again."""
    before = policy(http)
    after = set_policy(http, policy={**before, "bindings": [OWNER, ADMIN]}).json()
    assert after == policy(http)
    assert (after["bindings"], after["etag"] == before["etag"]) == ([OWNER, ADMIN], False)
    status, message = said(set_policy(http, policy={**before, "bindings": []}))
    assert (status, message[:39]) == (409, "There were concurrent policy changes. P")
    assert policy(http) == after


def test_without_an_etag_a_policy_is_overwritten(http: httpx.Client):
    """As Google says of policies that are written blindly."""
    assert set_policy(http, policy={"bindings": [ADMIN]}).json()["bindings"] == [ADMIN]


def test_only_the_fields_of_the_mask_are_written(http: httpx.Client):
    """Bindings, where no mask is given; what is in it and not given is cleared, what is unknown refused."""
    audit = [{"service": "allServices", "auditLogConfigs": [{"logType": "DATA_READ"}]}]
    wanted = {"bindings": [ADMIN], "auditConfigs": audit}
    assert "auditConfigs" not in set_policy(http, policy=wanted).json()
    both = set_policy(http, policy={"bindings": [], "auditConfigs": audit}, updateMask="auditConfigs").json()
    assert (both["bindings"], both["auditConfigs"]) == ([ADMIN], audit)
    assert "auditConfigs" not in set_policy(http, policy={}, updateMask="auditConfigs").json()
    assert said(set_policy(http, policy=wanted, updateMask="roles"))[0] == 400


@pytest.mark.parametrize(
    "binding", [{"role": "owner", "members": []}, {"role": "roles/owner", "members": ["me@example.com"]}]
)
def test_a_binding_that_cannot_be_is_refused(http: httpx.Client, binding: dict[str, Any]):
    """A role without its type, a member without one."""
    before = policy(http)
    assert said(set_policy(http, policy={"bindings": [binding]}))[0] == 400
    assert policy(http) == before


def test_the_owner_holds_every_permission(http: httpx.Client):
    """Whatever is asked for."""
    asked = ["compute.instances.create", "storage.objects.get"]
    assert http.post(f"{ITEM}:testIamPermissions", json={"permissions": asked}).json() == {
        "permissions": asked
    }


def test_a_function_holds_what_its_role_grants(http: httpx.Client, monkeypatch: pytest.MonkeyPatch):
    """Of what is asked for, and no more; nothing is an empty answer."""
    account = Account(name="a", email="a@example.com", permissions=frozenset({"compute.instances.create"}))
    monkeypatch.setattr(sys.modules["localcloud.permissions.caller"], "caller", lambda: account)
    asked = ["compute.instances.create", "compute.instances.delete"]
    path = f"{ITEM}:testIamPermissions"
    assert http.post(path, json={"permissions": asked}).json() == {"permissions": asked[:1]}
    assert http.post(path, json={"permissions": asked[1:]}).json() == {}


@long
@pytest.mark.skipif(not shutil.which("gcloud"), reason="gcloud is not installed")
def test_gcloud_grants_a_role(stand: Stand, tmp_path: Path):
    """It reads the policy, adds a binding and writes it, under the etag that it read."""
    member = "--member=serviceAccount:a@example.com"
    stand.gcloud(
        tmp_path, "projects", "add-iam-policy-binding", PROJECT, member, "--role=roles/compute.admin"
    )
    wanted = ("--flatten=bindings[].members", "--format=value(bindings.role,bindings.members)")
    shown = stand.gcloud(tmp_path, "projects", "get-iam-policy", PROJECT, *wanted)
    assert "roles/compute.admin\tserviceAccount:a@example.com" in shown.splitlines()
    assert stand.gcloud(tmp_path, "projects", "describe", PROJECT, "--format=value(name)").strip() == PROJECT


@pytest.mark.skipif(not shutil.which("gcloud"), reason="gcloud is not installed")
def test_gcloud_lists_the_project(stand: Stand, tmp_path: Path):
    """By the filter that leaves out deleted ones; another filter is not done."""
    assert stand.gcloud(tmp_path, "projects", "list", "--format=value(projectId)").strip() == PROJECT


def test_a_filter_of_projects_that_is_not_done_is_refused(http: httpx.Client):
    """By its name."""
    answer = http.get("/v1/projects", params={"filter": "labels.a:b"})
    assert (answer.status_code, "the parameter filter" in answer.text) == (501, True)
