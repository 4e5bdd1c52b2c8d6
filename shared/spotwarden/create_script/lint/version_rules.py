"""Rules on what another version of gcloud makes of the same script."""

from collections.abc import Iterator

from spotwarden.create_script.lint.facts import Facts, LintFinding

_LONGEST = 120


def other_requests(facts: Facts) -> Iterator[LintFinding]:
    """A create for which two versions of gcloud send different requests."""
    for launch in facts.launches:
        for version, others in launch.others.items():
            for sent, other in zip(launch.requests, others, strict=False):
                for path, ours, theirs in _differences(sent.body, other.body, ""):
                    text = (
                        f"gcloud {version} sends {path} as {theirs} instead of {ours}: "
                        "the policy's gcloud_version says which is meant"
                    )
                    yield LintFinding(launch.command.line, "gcloud-versions", text)


def _differences(ours: object, theirs: object, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted(ours.keys() | theirs.keys()):
            yield from _differences(ours.get(name), theirs.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _differences(mine, other, f"{path}[{number}]")
    elif ours != theirs and not (_commented(ours) and _commented(theirs)):
        yield path, _shortened(ours), _shortened(theirs)


def _commented(value: object) -> bool:
    """Whether a value is a declaration of a container: versions differ in the comment at its head."""
    return isinstance(value, str) and value.startswith("# DISCLAIMER:")


def _shortened(value: object) -> str:
    text = "nothing" if value is None else str(value).removeprefix("https://compute.googleapis.com/compute/")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
