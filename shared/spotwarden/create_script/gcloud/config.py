"""gcloud's configuration as a script changes it: `gcloud config …` and `CLOUDSDK_…` variables."""

import re
from collections.abc import Mapping, Sequence

from spotwarden.create_script.gcloud.argv import ArgToken
from spotwarden.create_script.gcloud.request import Defaults
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

PROJECT, ZONE, REGION, FAMILY_SCOPE = (
    "core/project",
    "compute/zone",
    "compute/region",
    "compute/image_family_scope",
)
_MODELLED = (PROJECT, ZONE, REGION, FAMILY_SCOPE)
# Properties and sections that would change what a create sends in ways that are not modelled here.
_REACHING = re.compile(r"api_endpoint_overrides/|auth/impersonate_service_account$|core/universe_domain$")
_HARMLESS_ACTIONS = {"get", "get-value", "list", "virtualenv"}
_HARMLESS_CONFIGURATIONS = {"describe", "list"}
_PROJECT_ID = re.compile(
    r"(?:(?:[-a-z0-9]{1,63}\.)*[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?:)?[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
)

Value = str | Unknown | None


class Config:
    """The named configurations of gcloud, as far as a create looks at them."""

    def __init__(self, defaults: Defaults) -> None:
        first: dict[str, Value] = {PROJECT: defaults.project, ZONE: defaults.zone, REGION: defaults.region}
        self._named = {"default": first}
        self.gcloud_version = defaults.gcloud_version
        self._active = "default"
        self._trouble: ScriptRefused | None = None

    def get(
        self, name: str, environment: Mapping[str, str], configuration: str | None, *, line: int
    ) -> str | None:
        """Give a property as a command would see it: a variable of the shell, else the configuration.

        Raises `ScriptRefused` if the value, or which configuration it stands in, cannot be known.
        """
        variable = "CLOUDSDK_" + name.replace("/", "_").upper()
        value: Value = environment.get(variable)
        if value is None:
            value = self._configuration(environment, configuration, line=line).get(name)
        if isinstance(value, Unknown):
            raise ScriptRefused(f"the configured {name} depends on {value.reason}", line=value.line)
        return value

    def check(self, environment: Mapping[str, str], *, line: int) -> None:
        """Raise `ScriptRefused` if a create depends on what was configured in a way not modelled here."""
        if self._trouble:
            raise self._trouble
        for variable, value in environment.items():
            section, _, name = variable.removeprefix("CLOUDSDK_").lower().partition("_")
            if variable.startswith("CLOUDSDK_API_ENDPOINT_OVERRIDES_"):
                section, name = "api_endpoint_overrides", ""
            if variable == "CLOUDSDK_CONFIG" or (
                variable.startswith("CLOUDSDK_") and value and _REACHING.match(f"{section}/{name}")
            ):
                raise ScriptRefused(
                    f"the variable {variable} changes what gcloud does in a way not supported here", line=line
                )

    def _configuration(
        self, environment: Mapping[str, str], configuration: str | None, *, line: int
    ) -> dict[str, Value]:
        name = configuration or environment.get("CLOUDSDK_ACTIVE_CONFIG_NAME") or self._active
        if name not in self._named:
            raise ScriptRefused(
                f"the gcloud configuration {name!r} is not made by this script; name project and zone",
                line=line,
            )
        return self._named[name]

    def apply(self, words: Sequence[ArgToken], configuration: str | None, *, line: int) -> None:
        """Carry out `gcloud config WORDS…`; what cannot be followed refuses the next create."""
        unknown = next((word.value for word in words if isinstance(word.value, Unknown)), None)
        action, *rest = [word.value for word in words] or [""]
        if isinstance(action, Unknown) or (action == "configurations" and unknown):
            self._lose(
                f"gcloud config {'…' if isinstance(action, Unknown) else action} depends on", unknown, line
            )
        elif action == "configurations":
            self._switch(rest, line=line)
        elif action in {"set", "unset"}:
            self._set(action, rest, configuration, line=line)
        elif action not in _HARMLESS_ACTIONS:
            self._trouble = ScriptRefused(
                f"gcloud config {action} is not supported here; name project and zone in the create",
                line=line,
            )

    def _lose(self, what: str, unknown: Unknown | None, line: int) -> None:
        reason = unknown.reason if unknown else "something unknown"
        self._trouble = ScriptRefused(f"{what} {reason}", line=unknown.line if unknown else line)

    def _set(
        self, action: str, words: Sequence[str | Unknown], configuration: str | None, *, line: int
    ) -> None:
        wanted = 2 if action == "set" else 1
        if len(words) != wanted or isinstance(words[0], Unknown):
            unknown = next((word for word in words if isinstance(word, Unknown)), None)
            self._lose(f"gcloud config {action} takes {wanted} words, or depends on", unknown, line)
            return
        name = words[0] if "/" in words[0] else f"core/{words[0]}"
        if _REACHING.match(name):
            self._trouble = ScriptRefused(
                f"the property {name} changes what gcloud does in a way not supported here", line=line
            )
        if name not in _MODELLED:
            return
        value = words[1] if action == "set" else None
        if name == PROJECT and isinstance(value, str):
            self._trouble = _bad_project(value, line=line) or self._trouble
        self._named.setdefault(configuration or self._active, {})[name] = value

    def _switch(self, words: Sequence[str | Unknown], *, line: int) -> None:
        names = [str(word) for word in words]
        action, *operands = [word for word in names if not word.startswith("-")] or [""]
        if action == "create" and operands:
            self._named[operands[0]] = {}
            if "--no-activate" not in names:
                self._active = operands[0]
        elif action == "activate" and operands and operands[0] in self._named:
            self._active = operands[0]
        elif action not in _HARMLESS_CONFIGURATIONS:
            what = f"gcloud config configurations {' '.join(names)}"
            self._trouble = ScriptRefused(
                f"{what} goes to a configuration that this script does not make", line=line
            )


def check_project(project: str, *, line: int) -> None:
    """Raise `ScriptRefused` for what isn't a project ID: a number, a name with capitals, a placeholder."""
    refused = _bad_project(project, line=line)
    if refused:
        raise refused


def _bad_project(project: str, *, line: int) -> ScriptRefused | None:
    if project.isdigit():
        return ScriptRefused(f"the project {project!r} is a number; write the id of the project", line=line)
    if not _PROJECT_ID.fullmatch(project):
        return ScriptRefused(
            f"{project!r} is not a valid project ID; write one, such as my-project-1", line=line
        )
    return None
