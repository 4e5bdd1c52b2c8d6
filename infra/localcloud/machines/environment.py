"""The environment in which a virtual machine's scripts run."""

import os
from collections.abc import Mapping

from localcloud.machines.folder import Folder
from localcloud.machines.host import Host
from localcloud.machines.metadata.tree import hostname
from localcloud.ports import Resource

STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DIRECT = "localhost,127.0.0.1"

NETWORK = (
    "https_proxy",
    "HTTPS_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
)
"""Settings by which this computer reaches the world; a virtual machine on it has no other way out."""

NETWORK_PREFIXES = ("PIP_", "UV_")
"""Likewise for the packages that a startup script installs."""


def guest_environment(instance: Resource, folder: Folder, *, host: Host, metadata: str) -> dict[str, str]:
    """The environment of every process of the machine; `metadata` is HOST:PORT of its metadata server.

    Of this computer's own environment only PATH, after the stand-ins, and the network settings are taken.
    """
    return {
        **_network(host.environment),
        **host.cloud(),
        **_user(instance, folder),
        **_metadata(metadata),
        **_packages(folder),
        "PATH": f"{host.standins}:{STANDARD_PATH}:{host.environment.get('PATH', os.defpath)}",
        "no_proxy": _direct(host.environment),
        "CLOUDSDK_CONFIG": str(folder.home / ".config" / "gcloud"),
    }


def _user(instance: Resource, folder: Folder) -> dict[str, str]:
    return {
        "HOME": str(folder.home),
        "TMPDIR": str(folder.temporary),
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "HOSTNAME": hostname(instance).partition(".")[0],
    }


def _packages(folder: Folder) -> dict[str, str]:
    """What `pip install` installs goes into the machine's own folder, and its Python finds it there."""
    site = str(folder.home / "site-packages")
    return {"PIP_TARGET": site, "PIP_ROOT_USER_ACTION": "ignore", "PYTHONPATH": site}


def _metadata(address: str) -> dict[str, str]:
    """What makes a client find the metadata server: as itself (google-auth) and as HTTP proxy (curl)."""
    names = ("GCE_METADATA_HOST", "GCE_METADATA_IP", "GCE_METADATA_ROOT")
    return {**dict.fromkeys(names, address), "http_proxy": f"http://{address}"}


def _network(host: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in host.items() if name in NETWORK or name.startswith(NETWORK_PREFIXES)
    }


def _direct(host: Mapping[str, str]) -> str:
    return ",".join(filter(None, [DIRECT, host.get("no_proxy") or host.get("NO_PROXY")]))
