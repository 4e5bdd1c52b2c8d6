"""Rules on the metadata, and on the scripts in it that the machine runs."""

import re
from collections.abc import Iterator
from itertools import pairwise

from spotwarden.create_script.lint.facts import Facts, LintFinding, LintLaunch

_SCRIPTS = ("startup-script", "shutdown-script")
_ENDS_OPEN = re.compile(r"(?:&&|\|\|?|[;({])\s*\\$")
# Where a line begins with one of these, it is a command of its own and no rest of the one before.
_COMMAND = re.compile(
    r"(?:sudo |apt(?:-get)? |pip3? |python3? |gsutil |gcloud |cd |export |echo |docker |git |mkdir |curl |"
    r"wget |systemctl |rm |cp |mv |chmod |nohup |tar |conda |nvidia-smi|sleep |set -|source |bash |sh |"
    r"shutdown|poweroff|(?:if|for|while|case) |(?:fi|done|esac)\b|[A-Za-z_]\w*=)"
)
_ZONE_ZONE = re.compile(r"--zone[= ]+[\"']?zone=")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SECRET_KEY = re.compile(
    r"passw(?:or)?d|secret|token|api[_-]?key|private[_-]?key|credential|access[_-]?key", re.IGNORECASE
)
_NO_SECRET = re.compile(r"(?i)(?:|true|false|none|\d{1,4}|(?:projects|gs:/)/.*|sm://.*|\$.*)\s*")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
# One \b for all: with one in each alternative every character of a long script is tried eight times.
_TOKEN = re.compile(
    r"\b(?:AKIA[0-9A-Z]{16}\b|gh[pousr]_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|AIza[0-9A-Za-z_-]{35}"
    r"|xox[abprs]-[0-9A-Za-z-]{10,}|ya29\.[0-9A-Za-z_-]{20,}|sk-[A-Za-z0-9_-]{20,})"
)
_EXPORTED_SECRET = re.compile(
    r"\b([A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_KEY|ACCESS_KEY)[A-Z0-9_]*)=[\"']?([^\s\"'$`]{6,})"
)


def _metadata(facts: Facts) -> Iterator[tuple[LintLaunch, str, str]]:
    for launch, instance in facts.instances():
        for key, value in instance.metadata():
            yield launch, key, value


def _line(launch: LintLaunch) -> int:
    return launch.line_of("--metadata", "--metadata-from-file")


def joined_lines(facts: Facts) -> Iterator[LintFinding]:
    """Lines of a script for the machine that end with a backslash, so that its bash joins them."""
    for launch, key, value in _metadata(facts):
        if key not in _SCRIPTS:
            continue
        for number, (line, following) in enumerate(pairwise(value.split("\n")), start=1):
            if line.endswith("\\") and _joins(line, following):
                text = (
                    f"line {number} of the {key} ends with a backslash, so the machine joins it with the "
                    f"next one, {following.strip()[:40]!r}; inside quotes leave the backslashes out"
                )
                yield LintFinding(_line(launch), "joined-lines", text)
                break


def _joins(line: str, following: str) -> bool:
    if line.startswith("#!"):
        return True
    if line.lstrip().startswith("#") or _ENDS_OPEN.search(line):
        return False
    return _COMMAND.match(following.strip()) is not None


def never_deletes_itself(facts: Facts) -> Iterator[LintFinding]:
    """A command on the machine that names its zone as `zone=…`, and so deletes nothing."""
    for launch, key, value in _metadata(facts):
        if _ZONE_ZONE.search(value):
            text = f"the {key} says --zone=zone=…: that zone does not exist, so the command does nothing"
            yield LintFinding(_line(launch), "zone-zone", text)


def split_metadata(facts: Facts) -> Iterator[LintFinding]:
    """A comma in a value that cut it in two."""
    for launch, key, _ in _metadata(facts):
        if not _KEY.fullmatch(key):
            text = (
                f"{key[:40]!r} is not a metadata key: a comma cut a value in two; "
                "write --metadata=^;^key=value;key=value, or --metadata-from-file"
            )
            yield LintFinding(_line(launch), "split-metadata", text)


def secrets(facts: Facts) -> Iterator[LintFinding]:
    """Secrets in metadata, which everybody who may look at the machine can read."""
    advice = "anyone who may view the VM can read it; put it into Secret Manager"
    for launch, key, value in _metadata(facts):
        if _PRIVATE_KEY.search(value) or _TOKEN.search(value):
            yield LintFinding(_line(launch), "secret", f"the value of {key} holds a key or token: {advice}")
        elif _SECRET_KEY.search(key) and not _NO_SECRET.fullmatch(value):
            yield LintFinding(_line(launch), "secret", f"{key} looks like a secret: {advice}")
        elif found := _EXPORTED_SECRET.search(value):
            yield LintFinding(_line(launch), "secret", f"the {key} sets {found.group(1)}: {advice}")
