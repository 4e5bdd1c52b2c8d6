"""Keys that encrypt disks and machines, and confidential computing."""

import base64
import binascii
import json
import re
from typing import Any

from spotwarden.create_script.gcloud.links import ResourceLink, path_of
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.values import Misfit, Raw

_KEY_PATH = re.compile(
    r"(?:https?://cloudkms\.googleapis\.com/v1/)?(projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/.*)"
)
_DISK_KEYS = ("kms-key", "kms-keyring", "kms-location", "kms-project")
_PARTS = ("project", "location", "keyring")
# Type of a key in the file → field of the API, length of the key as text.
_KEY_TYPES = {"raw": ("rawKey", 44), "rsa-encrypted": ("rsaEncryptedKey", 344)}


def kms_key(scene: GcloudScene, prefix: str) -> dict[str, str] | None:
    """Give the key that the flags `--PREFIX-kms-…` name, by its path or in parts."""
    args, flag = scene.args, f"{prefix}-kms-key"
    if not args[flag]:
        return None
    match = _KEY_PATH.fullmatch(args[flag])
    if match:
        return {"kmsKeyName": match[1]}
    project, location, ring = (args[f"{prefix}-kms-{part}"] for part in _PARTS)
    if not location or not ring:
        raise args.refusal(
            flag, f"needs --{prefix}-kms-location and --{prefix}-kms-keyring, or the full path of the key"
        )
    return _key(project or scene.home, location, ring, args[flag])


def disk_kms_key(scene: GcloudScene, disk: dict[str, str]) -> dict[str, str] | None:
    """Give the key that a --create-disk names."""
    if not disk.keys() & set(_DISK_KEYS):
        return None
    match = _KEY_PATH.fullmatch(disk.get("kms-key", ""))
    if match:
        return {"kmsKeyName": match[1]}
    known = {"kms-project": scene.home} | disk
    for part in _DISK_KEYS:
        if not known.get(part):
            raise scene.args.refusal("create-disk", f"names a KMS key in parts, but not its {part}")
    return _key(known["kms-project"], disk["kms-location"], disk["kms-keyring"], disk["kms-key"])


def _key(project: str, location: str, ring: str, key: str) -> dict[str, str]:
    return {"kmsKeyName": f"projects/{project}/locations/{location}/keyRings/{ring}/cryptoKeys/{key}"}


def confidential(scene: GcloudScene) -> dict[str, Any] | None:
    """Give the kind of confidential computing as the API wants it."""
    args = scene.args
    kind, svsm = args["confidential-compute-type"], args["svsm-config"]
    if svsm is not None:
        if not kind:
            raise args.refusal("svsm-config", "also needs --confidential-compute-type")
        return {"confidentialInstanceType": kind, "confidentialParavisorConfig": _paravisor(scene, svsm)}
    if kind:
        return {"confidentialInstanceType": kind}
    return compact(enableConfidentialCompute=args["confidential-compute"]) or None


def _paravisor(scene: GcloudScene, config: dict[str, str]) -> dict[str, str]:
    tpm, irq = config.get("tpm"), config.get("snp-irq")
    for value, allowed in ((tpm, ("EPHEMERAL", "NO_CC_TPM")), (irq, ("RESTRICTED", "UNRESTRICTED"))):
        if value and value not in allowed:
            raise scene.args.refusal("svsm-config", f"{value!r} is not one of {', '.join(allowed)}")
    return {
        "confidentialTpmType": tpm or "CONFIDENTIAL_TPM_TYPE_UNSPECIFIED",
        "sevSnpIrqMode": irq or "SEV_SNP_IRQ_MODE_UNSPECIFIED",
    }


class KeyRing:
    """The keys of a customer's key file, by the path of what each encrypts."""

    def __init__(self, scene: GcloudScene, flag: str, *, rsa: bool) -> None:
        self._scene, self._flag = scene, flag
        with scene.blame(flag):
            self._keys = _read_keys(scene.text(flag, scene.args[flag]), rsa=rsa)

    def find(self, link: ResourceLink | None, *, required: bool = False) -> dict[str, str] | None:
        """Give the key of a resource; raise `Refused` if it must have one and has none."""
        key = self._keys.get(link.path) if link else None
        if required and key is None:
            raise self._scene.args.refusal(self._flag, f"the file has no key for {link}")
        return key


def key_ring(scene: GcloudScene, flag: str = "csek-key-file", *, rsa: bool | None = None) -> KeyRing | None:
    """Open the key file that a flag names, if it does; RSA keys are for beta and alpha."""
    if scene.args[flag] is None:
        return None
    ring = KeyRing(scene, flag, rsa=scene.track != "v1" if rsa is None else rsa)
    return ring if len(ring._keys) else None  # noqa: SLF001 — an empty file counts as none, as in gcloud


def _read_keys(content: str, *, rsa: bool) -> dict[str, dict[str, str]]:
    try:
        records = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Misfit(f"the key file is not valid JSON: {error}") from None
    if not isinstance(records, list):
        raise Misfit("the key file must hold a list of keys, each with uri, key and key-type")
    keys: dict[str, dict[str, str]] = {}
    for record in records:
        path, key = _read_key(record, rsa=rsa)
        if path in keys:
            raise Misfit(f"two keys of the file are for {path}")
        keys[path] = key
    return keys


def _read_key(record: Raw, *, rsa: bool) -> tuple[str, dict[str, str]]:
    if not isinstance(record, dict) or record.keys() != {"uri", "key", "key-type"}:
        raise Misfit("each record of the key file must have exactly the keys uri, key and key-type")
    if not all(isinstance(value, str) for value in record.values()):
        raise Misfit("uri, key and key-type of the key file must be texts; put quotes around them")
    field, length = _KEY_TYPES.get(record["key-type"], ("", 0))
    if not field or (field == "rsaEncryptedKey" and not rsa):
        raise Misfit(
            f"{record['key-type']!r} is not a key type that this command takes; write raw or, with"
            " gcloud beta, rsa-encrypted"
        )
    _check_key(record["key"], length)
    return path_of(record["uri"]), {field: record["key"]}


def _check_key(key: str, length: int) -> None:
    if len(key) != length or not key.endswith("="):
        raise Misfit(
            f"a key of the key file must have {length} characters and end with =; encode it in base64"
        )
    try:
        base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        raise Misfit("a key of the key file is not valid base64; encode it again") from None
