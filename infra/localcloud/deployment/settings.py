"""What the functions are told on this machine: settings that anybody may read, and secrets."""

import base64
import secrets as random
from collections.abc import Mapping
from pathlib import Path

from localcloud.deployment.manifest import Manifest
from localcloud.deployment.wiring import Where
from localcloud.listener import HOST

ANSWERS = "answer_notice"
"""The function that the links in mails lead to."""
REPORT = "report_jobs"
"""The function that has the report page."""
MAIL_FROM = "Spotwarden <spotwarden@example.com>"
OPS = "ops@example.com"
KEY_BYTES = 32


def settings(manifest: Manifest, where: Where, *, policy: Path, urls: Mapping[str, str]) -> Mapping[str, str]:
    """What functions, commands and VMs of a deployment are told; `urls` are those of the functions."""
    return {
        "SPOTWARDEN_PROJECT": where.project,
        "SPOTWARDEN_BUCKET": where.bucket,
        "SPOTWARDEN_PREFIX": where.prefix,
        "SPOTWARDEN_NOTICES": manifest.topics["notices"],
        "SPOTWARDEN_POLICY": str(policy),
        "SPOTWARDEN_PRICES": str(manifest.folder / "prices.toml"),
        "SPOTWARDEN_MODE": "enforce",
        "SPOTWARDEN_OPS": OPS,
        "SPOTWARDEN_MAIL_FROM": MAIL_FROM,
        "SPOTWARDEN_ANSWERS": f"{urls[ANSWERS]}/" if ANSWERS in urls else "",
        "SPOTWARDEN_REPORT": f"{urls[REPORT]}/" if REPORT in urls else "",
    }


def secrets(state: Path, *, mail_port: int) -> Mapping[str, str]:
    """The way to the mailbox, and keys that are this state folder's own: links in old mails stay good."""
    return {
        "SPOTWARDEN_SMTP": f"smtp+plain://{HOST}:{mail_port}",
        "SPOTWARDEN_SIGNING_KEYS": _signing_keys(state / "signing-keys"),
    }


def _signing_keys(file: Path) -> str:
    if not file.exists():
        file.touch(mode=0o600)
        key = base64.urlsafe_b64encode(random.token_bytes(KEY_BYTES)).decode()
        file.write_text(f"k1:{key}\n", encoding="ascii")
    return file.read_text(encoding="ascii").strip()
