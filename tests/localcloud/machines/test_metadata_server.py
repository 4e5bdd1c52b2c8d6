"""The metadata server, asked by curl, by a plain HTTP client and by Google's own library."""

import asyncio
import base64
import json
import sys

import httpx
import pytest

from localcloud.clock import Clock
from localcloud.http import Listener
from localcloud.machines.metadata import MetadataServer
from localcloud.signing import signing_key

FLAVOR = {"Metadata-Flavor": "Google"}
EMAIL = "123456-compute@developer.gserviceaccount.com"


@pytest.fixture
def served(instance, cleanup):
    """A server for an instance with these attributes, and a client of it."""

    async def serve(**metadata):
        resource = instance(metadata={key.replace("_", "-"): value for key, value in metadata.items()})
        server = MetadataServer(resource, now=Clock().now)
        cleanup.push_async_callback(server.close)
        listener = await cleanup.enter_async_context(Listener(server))
        base = f"{listener.url}/computeMetadata/v1/"
        client = httpx.AsyncClient(base_url=base, headers=FLAVOR, trust_env=False)
        await cleanup.enter_async_context(client)
        return server, client, resource

    return serve


@pytest.fixture
def ask(run, served):
    """One request to a fresh server."""

    def asker(path, method="GET", **how):
        async def scene():
            _server, client, _resource = await served(job_name="test")
            return await client.request(method, path, **how)

        return run(scene())

    return asker


def test_a_value_is_plain_text_with_its_flavor(ask):
    """The answer's headers say who answered; clients check them."""
    answer = ask("instance/name")
    assert (answer.status_code, answer.text) == (200, "test-vm")
    assert answer.headers["metadata-flavor"] == "Google"
    assert answer.headers["server"] == "Metadata Server for VM"
    assert answer.headers["content-type"] == "application/text"


def test_a_question_without_the_header_is_refused(ask):
    """As a web page, which cannot set the header, would ask."""
    answer = ask("instance/name", headers={"Metadata-Flavor": "Amazon"})
    assert answer.status_code == 403
    assert "Missing Metadata-Flavor:Google header." in answer.text


def test_the_older_header_is_taken(ask):
    """`X-Google-Metadata-Request: True` still works."""
    headers = {"Metadata-Flavor": "", "X-Google-Metadata-Request": "True"}
    assert ask("instance/name", headers=headers).status_code == 200


def test_a_question_that_a_proxy_passed_on_is_refused(ask):
    """A request with `X-Forwarded-For` came from somewhere else."""
    assert ask("instance/name", headers={"X-Forwarded-For": "1.2.3.4"}).status_code == 403


def test_a_directory_is_listed(ask):
    """With a slash at the end: the names of its children."""
    assert ask("instance/scheduling/").text == "automatic-restart\non-host-maintenance\npreemptible\n"
    assert ask("instance/service-accounts/").text == f"{EMAIL}/\ndefault/\n"


def test_a_directory_without_slash_is_redirected(ask):
    """To the same path with a slash, keeping the query."""
    answer = ask("instance/disks?recursive=true")
    assert answer.status_code == 301
    assert answer.headers["location"].endswith("/computeMetadata/v1/instance/disks/?recursive=true")


@pytest.mark.parametrize("path", ["instance/nope", "nope", "instance/id/", "instance/attributes/nope"])
def test_what_is_not_there_is_a_404_page(ask, path):
    """The page shows the path, made safe."""
    answer = ask(path)
    assert answer.status_code == 404
    assert f"<code>/computeMetadata/v1/{path}</code> was not found on this server" in answer.text


def test_a_path_on_a_page_cannot_become_a_script(ask):
    """What was asked for is escaped."""
    assert "<script>" not in ask("instance/<script>").text


def test_recursive_answers_are_json_by_default_and_text_on_demand(ask):
    """`?recursive=true`, with `alt=text` as lines of path and value."""
    assert ask("instance/scheduling/?recursive=true").json()["preemptible"] == "TRUE"
    assert "preemptible TRUE\n" in ask("instance/scheduling/?recursive=true&alt=text").text
    assert ask("instance/id?alt=json").json() == 1234567890123456789


def test_tags_are_json_unless_text_is_asked_for(ask):
    """The one value that is a list by default."""
    assert ask("instance/tags").json() == ["http-server", "training"]
    assert ask("instance/tags?alt=text").text == "http-server\ntraining"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("instance/?alt=xml", "alt must be json or text"),
        ("instance/id?timeout_sec=soon&wait_for_change=true", "timeout_sec must be a number of seconds"),
        ("instance/?wait_for_change=true", "needs recursive=true"),
        ("instance/service-accounts/default/identity", "non-empty audience parameter required"),
    ],
)
def test_a_question_that_makes_no_sense_is_a_400(ask, path, said):
    """The page says what is wrong with it."""
    answer = ask(path)
    assert answer.status_code == 400
    assert said in answer.text


def test_a_wait_ends_with_the_change(run, served, eventually):
    """`wait_for_change` answers when the value changes, and with the new one."""

    async def scene():
        server, client, resource = await served()
        waiting = asyncio.create_task(client.get("instance/preempted?wait_for_change=true", timeout=60))
        await eventually(lambda: server._changed._waiters)
        server.update(resource)  # no change: it goes on waiting
        await eventually(lambda: server._changed._waiters)
        server.update({**resource, "preempted": True})
        return await waiting

    assert run(scene()).text == "TRUE"


def test_a_wait_with_an_old_etag_is_answered_at_once(run, served):
    """A change between two questions is not missed."""

    async def scene():
        server, client, resource = await served()
        seen = (await client.get("instance/preempted")).headers["etag"]
        server.update({**resource, "preempted": True})
        return await client.get(f"instance/preempted?wait_for_change=true&last_etag={seen}", timeout=60)

    assert run(scene()).text == "TRUE"


def test_a_wait_with_the_current_etag_goes_on(run, served):
    """Until its time is over; then the value is as it was."""

    async def scene():
        _server, client, _resource = await served()
        seen = (await client.get("instance/preempted")).headers["etag"]
        path = f"instance/preempted?wait_for_change=true&timeout_sec=1&last_etag={seen}"
        return seen, await client.get(path, timeout=60)

    seen, answer = run(scene())
    assert (answer.text, answer.headers["etag"]) == ("FALSE", seen)


def test_a_wait_for_a_directory_sees_what_is_below(run, served, eventually):
    """`instance/attributes/?recursive=true&wait_for_change=true` wakes for a new attribute."""

    async def scene():
        server, client, resource = await served(a="1")
        path = "instance/attributes/?recursive=true&wait_for_change=true"
        waiting = asyncio.create_task(client.get(path, timeout=60))
        await eventually(lambda: server._changed._waiters)
        server.update({**resource, "metadata": {"items": [{"key": "a", "value": "2"}]}})
        return await waiting

    assert run(scene()).json() == {"a": "2"}


def test_guest_attributes_are_written_read_and_deleted(run, served):
    """With the switch on; and they show in the tree."""

    async def scene():
        _server, client, _resource = await served(enable_guest_attributes="TRUE")
        path = "instance/guest-attributes/training/step"
        statuses = [(await client.put(path, content="42")).status_code]
        value = (await client.get(path)).text
        tree = (await client.get("instance/guest-attributes/?recursive=true")).json()
        statuses += [(await client.delete(path)).status_code, (await client.delete(path)).status_code]
        statuses += [(await client.get(path)).status_code]
        return value, tree, statuses

    assert run(scene()) == ("42", {"training": {"step": "42"}}, [200, 200, 404, 404])


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_guest_attributes_are_off_by_default(ask, method):
    """Without `enable-guest-attributes=TRUE` nothing of them can be reached."""
    answer = ask("instance/guest-attributes/a/b", method=method)
    assert answer.status_code == 403
    assert "Guest attributes endpoint access is disabled." in answer.text


@pytest.mark.parametrize("path", ["a", "a/b/c", "a b/c", "/c"])
def test_a_guest_attribute_has_two_plain_names(run, served, path):
    """Namespace and key, of letters, digits, dashes and underscores."""

    async def scene():
        _server, client, _resource = await served(enable_guest_attributes="TRUE")
        return (await client.put(f"instance/guest-attributes/{path}", content="x")).status_code

    assert run(scene()) == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "PATCH"])
def test_nothing_else_can_be_written(ask, method):
    """The metadata is Compute's to change."""
    assert ask("instance/attributes/job-name", method=method).status_code == 405


def test_the_token_names_the_service_account(ask):
    """What the local cloud will recognise the machine by."""
    answer = ask("instance/service-accounts/default/token").json()
    assert answer == {"access_token": f"local-{EMAIL}", "expires_in": 3599, "token_type": "Bearer"}


def test_google_auth_works_unchanged_inside_the_machine(run, vm):
    """`google.auth.default()` finds project and credentials; the token and the identity token can be had."""
    key = signing_key()
    script = f"""#!{sys.executable}
import google.auth, google.auth.jwt, google.auth.transport.requests
from google.auth import compute_engine
from google.auth.compute_engine import _metadata
request = google.auth.transport.requests.Request()
credentials, project = google.auth.default()
credentials.refresh(request)
print(project, type(credentials).__module__, credentials.service_account_email, credentials.token)
audience = "https://me.example.com"
identity = compute_engine.IDTokenCredentials(request, audience, use_metadata_identity_endpoint=True)
identity.refresh(request)
claims = google.auth.jwt.decode(identity.token, certs={{{key.id!r}: {key.certificate!r}}}, audience=audience)
print(claims["aud"], claims["email"], _metadata.get(request, "instance/zone"))
"""

    async def scene():
        return await (await vm(startup_script=script)).finished()

    assert run(scene()).splitlines() == [
        f"demo google.auth.compute_engine.credentials {EMAIL} local-{EMAIL}",
        f"https://me.example.com {EMAIL} projects/123456/zones/us-central1-a",
    ]


@pytest.mark.parametrize(
    "host", ["metadata.google.internal", "metadata", "169.254.169.254", "$GCE_METADATA_HOST"]
)
def test_curl_reaches_it_under_all_its_names(run, vm, host):
    """Without root and without a name server: through `http_proxy`."""
    url = f"http://{host}/computeMetadata/v1/instance/attributes/job-name"

    async def scene():
        script = f'curl -sf -H "Metadata-Flavor: Google" "{url}"'
        return await (await vm(startup_script=script, metadata={"job-name": "test"})).finished()

    assert run(scene()) == "test"


def test_the_proxy_passes_on_what_is_for_others(run, vm, serve_text):
    """Another host's page comes through whole, query included."""

    async def scene():
        url = await serve_text("page {query}")
        script = f'no_proxy= curl -s --proxy "$http_proxy" "{url}?a=b"'
        return await (await vm(startup_script=script)).finished()

    assert run(scene()) == "page a=b"


def test_the_proxy_says_when_a_host_cannot_be_reached(run, vm):
    """A 502 with the host and the reason, at once."""

    async def scene():
        script = "curl -s -w '%{http_code}' http://nowhere.invalid/x"
        return await (await vm(startup_script=script)).finished()

    said = run(scene())
    assert said.startswith("The virtual machine cannot reach nowhere.invalid: ")
    assert said.endswith("502")


def test_identity_tokens_tell_about_the_instance_when_asked(ask):
    """`format=full` adds where and what the instance is."""
    token = ask("instance/service-accounts/default/identity?audience=me&format=full").text
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert claims["google"]["compute_engine"] == {
        "instance_id": "1234567890123456789",
        "instance_name": "test-vm",
        "project_id": "demo",
        "project_number": 123456,
        "zone": "us-central1-a",
        "instance_creation_timestamp": 1795248000,
    }


def test_what_a_guest_writes_about_itself_is_read_from_outside_and_outlasts_a_stop(run, vm, eventually):
    """With PUT, as the documentation writes it."""
    url = "http://metadata.google.internal/computeMetadata/v1/instance/guest-attributes/training/step"
    script = f"curl -sf -X PUT --data 42 {url} -H Metadata-Flavor:Google"

    async def scene():
        machine = await vm(startup_script=script, metadata={"enable-guest-attributes": "TRUE"})
        await eventually(lambda: machine.machines.guest_attributes(machine.id))
        await machine.machines.kill(machine.id)
        return machine.machines.guest_attributes(machine.id)

    assert run(scene()) == {"training": {"step": "42"}}
