"""The functions on this machine: wired as `infra/functions.yaml` says, one process each."""

from localcloud.deployment.manifest import Function, Manifest, ManifestError, read_manifest
from localcloud.deployment.processes import Processes
from localcloud.deployment.settings import secrets, settings
from localcloud.deployment.wiring import Where, wire

__all__ = [
    "Function",
    "Manifest",
    "ManifestError",
    "Processes",
    "Where",
    "read_manifest",
    "secrets",
    "settings",
    "wire",
]
