"""`gcloud config`, `auth`, `projects`, `logging` and `pubsub`, as far as startup scripts use them."""

import base64
import json
import sys
from typing import Any

from localcloud.standins.cli.command import VALUE, Command, Path, Run
from localcloud.standins.cli.edits import pairs
from localcloud.standins.cli.formats import BadFormat, render
from localcloud.standins.cli.properties import KNOWN, full_name
from localcloud.standins.transport import CloudError, metadata, segment

ACCOUNT = "instance/service-accounts/default"


def _property(run: Run) -> str:
    name = full_name(run.arguments[0])
    if name not in KNOWN:
        run.fail(
            f"the local cloud's stand-in knows the properties {', '.join(KNOWN)}, not {run.arguments[0]!r}"
        )
    return name


def _get(run: Run) -> None:
    value = run.properties.get(_property(run))
    if value:
        sys.stdout.write(f"{value}\n")
    else:
        sys.stderr.write("(unset)\n")


def _set(run: Run) -> None:
    run.properties.set(_property(run), run.arguments[1])
    sys.stderr.write(f"Updated property [{run.arguments[0]}].\n")


def _unset(run: Run) -> None:
    run.properties.set(_property(run), None)
    sys.stderr.write(f"Unset property [{run.arguments[0]}].\n")


def _list(run: Run) -> None:
    values: dict[str, dict[str, str]] = {}
    for name in KNOWN:
        section, _, key = name.partition("/")
        if value := run.properties.get(name):
            values.setdefault(section, {})[key] = value
    if run.flags.get("--format"):
        _show(run, values)
        return
    for section in sorted(values):
        lines = "".join(f"{key} = {value}\n" for key, value in sorted(values[section].items()))
        sys.stdout.write(f"[{section}]\n{lines}")


def _show(run: Run, resource: dict[str, Any], default: str = "yaml") -> None:
    try:
        sys.stdout.write(render([resource], run.flags.get("--format") or default, single=True))
    except BadFormat as error:
        run.fail(str(error))


def _auth_list(run: Run) -> None:
    email = run.properties.get("core/account")
    if not email:
        sys.stderr.write("\nNo credentialed accounts.\n")
        return
    resource = {"account": email, "status": "ACTIVE"}
    if run.flags.get("--format"):
        _show(run, resource)
    else:
        sys.stdout.write(f"Credentialed Accounts\nACTIVE  ACCOUNT\n*       {email}\n")


def _access_token(run: Run) -> None:
    sys.stdout.write(json.loads(_ask(run, f"{ACCOUNT}/token"))["access_token"] + "\n")


def _identity_token(run: Run) -> None:
    audience = run.flags.get("--audiences") or run.fail("argument --audiences: Must be specified.", 2)
    sys.stdout.write(_ask(run, f"{ACCOUNT}/identity?audience={segment(audience)}") + "\n")


def _ask(run: Run, path: str) -> str:
    try:
        return metadata(path)
    except CloudError:
        run.fail("You do not currently have an active account selected: the instance has no service account.")


def _describe_project(run: Run) -> None:
    if run.arguments[0] != metadata("project/project-id"):
        run.fail(f"the local cloud has one project only, and it is not [{run.arguments[0]}]")
    number = metadata("project/numeric-project-id")
    project = {"lifecycleState": "ACTIVE", "name": run.arguments[0], "projectId": run.arguments[0]}
    _show(run, {**project, "projectNumber": number})


SEVERITIES = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")


def _write_log(run: Run) -> None:
    log, message = run.arguments
    severity = run.flags.get("--severity", "DEFAULT").upper()
    if severity not in SEVERITIES:
        run.fail(f"argument --severity: Invalid choice: '{severity}'. Valid choices are {SEVERITIES}", 2)
    entry: dict[str, Any] = {"severity": severity, "logName": f"projects/{run.project}/logs/{segment(log)}"}
    entry["resource"] = {"type": "global", "labels": {"project_id": run.project}}
    kind = run.flags.get("--payload-type", "text")
    if kind not in ("text", "json"):
        run.fail(f"argument --payload-type: Invalid choice: '{kind}'. Valid choices are [json, text].", 2)
    entry |= {"jsonPayload": _object(run, message)} if kind == "json" else {"textPayload": message}
    _post(run, "/v2/entries:write", {"entries": [entry]})
    sys.stderr.write("Created log entry.\n")


def _object(run: Run, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        run.fail(f"the message is not JSON: {error}")
    if not isinstance(value, dict):
        run.fail("the message must be a JSON object")
    return value


def _publish(run: Run) -> None:
    topic = run.arguments[0]
    if not topic.startswith("projects/"):
        topic = f"projects/{run.project}/topics/{topic}"
    attributes = pairs(run, "--attribute")
    message: dict[str, Any] = {"attributes": attributes}
    if text := run.flags.get("--message"):
        message["data"] = base64.b64encode(text.encode()).decode()
    if not text and not attributes:
        run.fail("You cannot send an empty message. You must specify a MESSAGE, ATTRIBUTEs, or both.")
    if key := run.flags.get("--ordering-key"):
        message["orderingKey"] = key
    answer = _post(run, f"/v1/{topic}:publish", {"messages": [message]})
    _show(run, {"messageIds": answer["messageIds"]})


def _post(run: Run, path: str, body: dict[str, Any]) -> dict[str, Any]:
    try:
        return run.door().call("POST", path, body=body)
    except CloudError as error:
        run.fail(f"HTTPError {error.status}: {error.message}")


PUBLISH = dict.fromkeys(("--message", "--attribute", "--ordering-key"), VALUE)
WRITE = dict.fromkeys(("--severity", "--payload-type"), VALUE)

COMMANDS: dict[Path, Command] = {
    ("config", "get-value"): Command(_get, {}, "SECTION/PROPERTY", 1, 1),
    ("config", "get"): Command(_get, {}, "SECTION/PROPERTY", 1, 1),
    ("config", "set"): Command(_set, {}, "SECTION/PROPERTY VALUE", 2, 2),
    ("config", "unset"): Command(_unset, {}, "SECTION/PROPERTY", 1, 1),
    ("config", "list"): Command(_list, {}),
    ("auth", "list"): Command(_auth_list, {"--filter-account": VALUE}),
    ("auth", "print-access-token"): Command(_access_token, {}),
    ("auth", "print-identity-token"): Command(_identity_token, {"--audiences": VALUE}),
    ("projects", "describe"): Command(_describe_project, {}, "PROJECT_ID_OR_NUMBER", 1, 1),
    ("logging", "write"): Command(_write_log, WRITE, "LOG_NAME MESSAGE", 2, 2),
    ("pubsub", "topics", "publish"): Command(_publish, PUBLISH, "TOPIC", 1, 1),
}
