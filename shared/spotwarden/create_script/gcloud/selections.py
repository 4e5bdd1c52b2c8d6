"""Selections of machine types, of which `bulk create` may take whichever can be had."""

import re
from typing import Any

from spotwarden.create_script.gcloud.argv import Args
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.values import Misfit, Raw, text

_FLAG, _TYPES = "instance-selection", "instance-selection-machine-types"
_PIECE = re.compile(r"([^\s=]+)\s*=\s*([^=]+)", re.DOTALL)


def selection(value: Raw) -> list[dict[str, list[str]]]:
    """Read one selection: KEY=VALUE pieces between commas, each key as often as wanted."""
    found: dict[str, list[str]] = {}
    for piece in text(value).split(","):
        match = _PIECE.fullmatch(piece.strip())
        if not match:
            raise Misfit(f"{piece!r} is not of the form KEY=VALUE, such as rank=1")
        found.setdefault(match[1], []).append(match[2].strip())
    return [found]


def check(args: Args) -> None:
    """Raise `Refused` for selections that gcloud refuses."""
    for flag in (_FLAG, _TYPES):
        if args.given(flag) and not args.given("region"):
            raise args.refusal(flag, "goes with --region, not with --zone")
    for wanted in args[_FLAG] or []:
        for key in ("name", "machine-type"):
            if key not in wanted:
                raise args.refusal(_FLAG, f"needs the key {key}")


def flexibility(scene: GcloudScene) -> dict[str, Any] | None:
    """Give the selections as the API wants them; a list of machine types wins over all others."""
    args = scene.args
    if args.given(_TYPES):
        return {"instanceSelections": {"default-selection": compact(machineTypes=args[_TYPES] or None)}}
    found: dict[str, dict[str, Any]] = {}
    for wanted in args[_FLAG] or []:
        name = wanted["name"][0]
        if name in found:
            raise args.refusal(_FLAG, f"two selections have the name {name!r}")
        platform = wanted.get("min-cpu-platform", [None])[0] if scene.track == "alpha" else None
        found[name] = compact(
            machineTypes=wanted["machine-type"], minCpuPlatform=platform, rank=_rank(args, wanted)
        )
    return {"instanceSelections": found} if found else None


def _rank(args: Args, wanted: dict[str, list[str]]) -> str | None:
    if "rank" not in wanted:
        return None
    try:
        return str(int(wanted["rank"][0]))
    except ValueError:
        raise args.refusal(
            _FLAG, f"the rank {wanted['rank'][0]!r} is not a whole number; write digits only"
        ) from None
