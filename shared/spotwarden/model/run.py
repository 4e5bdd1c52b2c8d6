"""How a job was asked for by `spotwarden run`: the content of `<job>/metadata/run.json`."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.moment import Moment


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What was typed, and what it came to; the values of environment variables are never in it.

    `place` is a zone or a region. `gpus` are those of each node, as `nvidia-l4:1`. `image` is an image or a
    family of images. `code` is the checksum of the tarball (CRC32C, in base64), `code_bytes` its size.
    `inputs` are what the VMs fetch, as `gs://… name`, those from `input_jobs` too. `environment` are names.
    `kit` is the digest of the job kit's scripts.
    """

    at: Moment
    by: str = ""
    command: tuple[str, ...] = ()
    machine: str = ""
    gpus: str = ""
    nodes: int = 1
    place: str = ""
    spot: bool = True
    image: str = ""
    container: str = ""
    setup: str = ""
    code: str = ""
    code_bytes: int = 0
    inputs: tuple[str, ...] = ()
    input_jobs: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    metrics: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    kit: str = ""
