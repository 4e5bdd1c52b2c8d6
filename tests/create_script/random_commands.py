"""Random create commands, read by us and played by the real gcloud: every request must be the same.

    python -m tests.create_script.random_commands SDK --gcloud-version 578 --count 2000 --seed 1

Prints what differs, and how many commands were sent, refused by both, and refused by us alone. Values are
mostly good ones, of each kind that the flag takes; some are not.
"""

import argparse
import json
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spotwarden.create_script.gcloud import Defaults, requests
from spotwarden.create_script.gcloud.argv import ArgToken
from spotwarden.create_script.gcloud.commands import read_line
from spotwarden.create_script.gcloud.flagset import flags_of
from spotwarden.create_script.gcloud.group_flags import NO_SLICE, NO_SLICE_TEMPLATE
from spotwarden.create_script.gcloud.letters import (
    BULK,
    CONTAINER,
    CREATE,
    GROUP,
    POLICY,
    TEMPLATE,
    full_name,
)
from spotwarden.create_script.gcloud.session import GcloudSession
from spotwarden.create_script.gcloud.surface import Taker, surface
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, SimpleCommand
from spotwarden.model.gcloud import NEWEST, VERSIONS
from spotwarden.model.request import Request

FILES = {
    "a.sh": "#!/bin/bash\necho a=b, c\n",
    "env": "A=1\n# no\nB=two words\n",
    "nodes.json": '[{"key": "k", "operator": "IN", "values": ["v"]}]',
    "partner.json": '{"ns": {"entries": {"a": 1}}}',
}
_CONFIGURED = Defaults(project="demo-project", zone="us-central1-a", region="us-central1")
_KMS = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
_DURATIONS = ("0s", "30s", "90s", "2h", "1h30m", "1d", "PT20M", "1.5h", "300", "1w2d")
_NUMBERS = ("0", "1", "2", "16", "96")
_SIZES = ("10GB", "200", "1TB", "375GB", "1.5TB", "20gb", "10240MB")
_NAMES = ("a", "b-1", "projects/other/global/x", "n_1", "")
_COMMON = {
    "count": ("1", "2", "5"),
    "min-count": ("1", "0", "2"),
    "location-policy": (
        "us-central1-a=allow", "us-central1-a=deny,us-central1-b=allow", "us-central1-ai1a=allow", "x=allow",
    ),
    "max-count-per-zone": ("us-central1-a=3", "us-central1-b=1,us-central1-f=2", "us-central1-a=0"),
    "per-instance-hostnames": ("w-1=a.example.com", "w-9=b.example.com"),
    "accelerator": ("type=nvidia-l4,count=1", "type=nvidia-tesla-t4", "count=2", "type=nvidia-l4,count=x"),
    "custom-cpu": ("4", "8"),
    "custom-memory": ("8GB", "20", "1.5GB"),
    "custom-vm-type": ("n2", "e2"),
    "machine-type": ("g2-standard-8", "ct6e-standard-4t", "a3-highgpu-8g", "n2-custom-4-8192"),
    "min-cpu-platform": ("Intel Ice Lake", ""),
    "turbo-mode": ("ALL_CORE_MAX", ""),
    "boot-disk-size": _SIZES,
    "boot-disk-type": ("pd-ssd", "hyperdisk-balanced", "pd-extreme"),
    "boot-disk-kms-key": (_KMS, "k"),
    "instance-kms-key": (_KMS, "k"),
    "boot-disk-interface": ("NVME", "SCSI", "x"),
    "image": ("my-image", "https://compute.googleapis.com/compute/v1/projects/p/global/images/i"),
    "image-family": ("debian-12", "rocky-9", "my-family"),
    "image-project": ("debian-cloud", "almalinux-cloud", "my-project", "rocky-linux-cloud"),
    "local-nvdimm": ("size=3TB", ""),
    "address": ("1.2.3.4", "my-address"),
    "external-ipv6-address": ("2001:db8::1", "name"),
    "internal-ipv6-address": ("fd00::1", "fd00::/96", "name"),
    "ipv6-address": ("2001:db8::2",),
    "network-performance-configs": ("total-egress-bandwidth-tier=TIER_1",),
    "network-tier": ("PREMIUM", "standard", "x"),
    "private-network-ip": ("10.0.0.2", "addr"),
    "availability-domain": ("1", "8", "9"),
    "discard-local-ssds-at-termination-timestamp": ("true", "false", "maybe"),
    "graceful-shutdown-max-duration": ("30s", "1h", "2h"),
    "host-error-timeout-seconds": ("90", "120s", "3m", "10"),
    "local-ssd-recovery-timeout": ("1", "2h", "3h", "200"),
    "maintenance-freeze-duration": ("1h", "2h", "0"),
    "min-node-cpu": ("2", "x"),
    "node-affinity-file": ("nodes.json", "missing.json"),
    "partner-metadata-from-file": ("partner.json",),
    "partner-metadata": ("ns/a=1", "ns={}", 'x/y="z"'),
    "resource-policies": ("p1", "p1,p2", "projects/demo-project/regions/us-central1/resourcePolicies/p"),
    "termination-time": ("2031-03-01T18:00:00Z", "2031-03-01 18:00:00+02:00", "2031-03-01"),
    "labels": ("a=b", "a=b,c=d", "A=b", "a=B"),
    "metadata": ("a=b", "a=b,c=d", "^;^a=1,2;b=3", "a", "install-nvidia-driver=True"),
    "metadata-from-file": ("startup-script=a.sh", "s=a.sh,t=env", "s=missing"),
    "resource-manager-tags": (
        "tagKeys/1=tagValues/2", "445566/env=prod", "k=445566/env/prod", "445566/env=tagValues/9", "a=b",
    ),
    "scopes": ("cloud-platform", "default,storage-rw", "https://www.googleapis.com/auth/x", ""),
    "secure-tags": ("tagValues/1", "x"),
    "service-account": ("a@b.iam.gserviceaccount.com", "default", "x"),
    "tags": ("a", "a,b", ""),
    "svsm-config": ("tpm=EPHEMERAL", "tpm=NO_CC_TPM,snp-irq=RESTRICTED", "tpm=x"),
    "source-instance-template": ("t", "projects/p/regions/us-central1/instanceTemplates/t"),
    "container-image": ("nginx", "gcr.io/p/i:1"),
    "container-arg": ("a", "--x=1"),
    "container-env": ("A=b", "A=b,C=d", "^;^A=1,2"),
    "container-env-file": ("env",),
    "container-mount-disk": ("mount-path=/d,name=data", "mount-path=/d"),
    "container-mount-host-path": ("host-path=/a,mount-path=/b,mode=ro", "host-path=/a,mount-path=/b"),
    "container-mount-tmpfs": ("mount-path=/t",),
    "csek-key-file": ("missing.json",),
    "source-machine-image-csek-key-file": ("missing.json",),
    "identity": ("//iam.example/x", ""),
    "instance-selection": (
        "name=a,machine-type=n2-standard-8,machine-type=n2d-standard-8,rank=1",
        "name=b, machine-type = e2-standard-4",
        "name=c,machine-type=g2-standard-8,min-cpu-platform=Intel Ice Lake",
        "machine-type=x",
        "name=d,machine-type=x,rank=y",
        "name=e",
    ),
    "instance-selection-machine-types": ("n2-standard-16", "n2-standard-16,n2d-standard-16", ""),
    "region": ("us-central1", "europe-west4"),
    "zone": ("us-central1-a", "europe-west4-b"),
    "accelerator-topology": ("4x4", "2x2x2", ""),
    "base-instance-name": ("w", "w-1"),
    "size": ("4", "0", "16", "x"),
    "template": ("t", "projects/p/global/instanceTemplates/t", "projects/p/regions/r/instanceTemplates/t"),
    "workload-policy": ("wp", "projects/p/regions/us-central1/resourcePolicies/wp", ""),
    "project": ("other-project",),
    "format": ("json", "value(name)"),
    "local-ssd": ("", "interface=NVME", "interface=nvme,size=375GB,device-name=x", "interface=x"),
    "disk": ("name=d1", "name=d2,mode=ro,device-name=x", "name=d3,boot=yes", "name=d4,scope=regional"),
    "create-disk": (
        "size=100GB,type=pd-ssd",
        "name=n,size=50,auto-delete=no,labels=a=b",
        "boot=yes,image=my-image",
        "image-family=f,image-project=almalinux-cloud",
        "size=10GB,on-update-action=RECREATE_DISK",
        "size=10GB,on-update-action=x",
        "source-snapshot=s",
        "size=1TB,type=hyperdisk-balanced,provisioned-iops=3000,provisioned-throughput=140",
        "confidential-compute=yes,kms-key=" + _KMS,
        "replica-zones=us-central1-a:us-central1-b",
        "storage-pool=p,architecture=ARM64,disk-resource-policy=p1",
        "source-snapshot=s,source-snapshot-region=us-central1",
    ),
    "network-interface": (
        "",
        "network=n,subnet=s",
        "nic-type=GVNIC,no-address",
        "network=default,vlan=17",
        "igmp-query=igmp_query_v2",
        "network-attachment=projects/p/regions/r/networkAttachments/a,service-class-id=s",
        "network-attachment=a,enable-vpc-scoped-dns",
        "aliases=10.0.0.0/24;r:/28",
        "aliases=r=/28",
        "ipv6-aliases=/96;r=2001:db8::/96",
        "dns64-eligible,nat64-eligible",
        "stack-type=IPV4_IPV6,ipv6-network-tier=PREMIUM",
        "stack-type=IPV6_ONLY,ipv6-network-tier=standard",
        "address=1.2.3.4,private-network-ip=10.0.0.3,queue-count=4",
        "external-ipv6-address=2001:db8::1,external-ipv6-prefix-length=96",
        "ipv6-public-ptr-domain=x.example.com",
        "network-tier=STANDARD",
        "nic-type=x",
    ),
}  # fmt: skip
# What these do is to change how gcloud runs, or needs an account.
_LEFT_OUT = {
    "access-token-file", "account", "authority-selector", "authorization-token-file", "billing-project",
    "configuration", "credential-file-override", "flatten", "http-timeout", "impersonate-service-account",
    "log-http", "trace-token", "universe-domain", "user-output-enabled", "verbosity", "quiet",
    "network-interface-from-file", "network-interface-from-json-string",
}  # fmt: skip
_PARTS = (TEMPLATE, TEMPLATE, TEMPLATE, GROUP, GROUP, POLICY)
_OFTEN = (
    "provisioning-model", "request-valid-for-duration", "skip-guest-os-shutdown", "network-interface",
    "create-disk", "instance-selection", "identity", "max-run-duration", "resource-manager-tags",
)  # fmt: skip


def values(name: str, words: list[str]) -> tuple[str, ...]:
    """Give values of a flag, good ones and others."""
    if words:
        return (*words, *words, *(word.lower().replace("_", "-") for word in words), "x")
    if name in _COMMON:
        return _COMMON[name]
    if "duration" in name:
        return _DURATIONS
    if name.endswith(("iops", "throughput", "length", "count", "core", "cpus")):
        return _NUMBERS
    return _NAMES


def command(chance: random.Random, version: int, *, parts: bool = False) -> list[str]:
    """Make one command line, without the word gcloud; `parts` for one of those for the parts of a slice."""
    name = chance.choice(_PARTS if parts else (CREATE, CREATE, CREATE, BULK, BULK, CONTAINER))
    track = chance.choice(("v1", "v1", "v1", "beta", "alpha"))
    taker = Taker(command=name, track=track, version=version)
    table = surface().flags
    left_out = _LEFT_OUT | (NO_SLICE if name == GROUP else NO_SLICE_TEMPLATE if name == TEMPLATE else set())
    flags = [flag for flag, row in table.items() if flag not in left_out and row.where.has(taker)]
    argv = [*([] if track == "v1" else [track]), "compute", *full_name(name).split()]
    argv += _head(chance, name)
    often = [flag for flag in _OFTEN if flag in flags]
    for flag in chance.sample(flags, chance.randint(0, 4)) + chance.sample(
        often, min(len(often), chance.randint(0, 2))
    ):
        row = table[flag]
        takes_words = flag in _COMMON or row.choices or _takes_value(taker, flag)
        if not takes_words:
            argv.append(f"--no-{flag}" if row.negatable and chance.random() < 0.3 else f"--{flag}")
            continue
        words = [word for word, where in row.choices.items() if where.has(taker)]
        pool = values(flag, words)
        # The first are good ones.
        argv.append(f"--{flag}={chance.choice((*pool[:2], *pool[:2], *pool))}")
    return argv


def _takes_value(taker: Taker, flag: str) -> bool:
    return flags_of(taker)[flag].read is not None


def _head(chance: random.Random, name: str) -> Iterator[str]:
    """Give the names and the place, nearly always good ones."""
    if name == BULK:
        yield chance.choice(("--name-pattern=w-#", "--predefined-names=w-1,w-2", "--name-pattern=n-##"))
        yield "--count=2"
        yield chance.choice(("--zone=us-central1-a", "--region=us-central1", "--region=us-central1"))
        return
    if name in _PARTS:
        yield chance.choice(("part", "part", "part-2"))
        yield from {
            POLICY: ("--type=high-throughput", "--region=us-central1"),
            GROUP: ("--size=4", "--template=t", "--zone=us-central1-a"),
        }.get(name, ())
        return
    yield chance.choice(("vm", "vm", "vm", "vm-2"))
    if chance.random() < 0.9:
        yield "--zone=us-central1-a"
    if name == CONTAINER:
        yield "--container-image=nginx"
        yield "--image-family=cos-stable"
        yield "--image-project=cos-cloud"


def read(argv: list[str], version: int) -> list[dict[str, Any]] | str:
    """Give what we read in a command line: its requests, or why it is refused."""
    words = tuple(ExpandedWord(value=word, line=1) for word in ("gcloud", *argv))
    files = {name: text.encode() for name, text in FILES.items()}
    defaults = Defaults(
        project=_CONFIGURED.project, zone=_CONFIGURED.zone, region=_CONFIGURED.region, gcloud_version=version
    )
    line = SimpleCommand(words=words, line=1, environment={}, files=files)
    try:
        found = _part(line, defaults) or requests([line], defaults)
    except ScriptRefused as refused:
        return refused.reason
    plain = [{"method": r.method, "path": r.path, "query": dict(r.query), "body": r.body} for r in found]
    return list(json.loads(json.dumps(plain)))


def _part(command_line: SimpleCommand, defaults: Defaults) -> list[Request]:
    """The request of a command for a part of a slice; none of any other."""
    session = GcloudSession(defaults)
    tokens = [ArgToken(value=word.value, line=word.line) for word in command_line.words[1:]]
    if read_line(tokens).part is None:
        return []
    session.read(command_line)
    [part] = session.slice.parts
    if isinstance(part.found, ScriptRefused):
        raise part.found
    return [part.found]


def main() -> None:
    """Play as many commands as asked for; exit status 1 if a request differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sdk", type=Path)
    parser.add_argument("--gcloud-version", type=int, choices=VERSIONS, default=NEWEST)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", action="store_true", help="commands for the parts of a TPU slice")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    lines = [command(chance, options.gcloud_version, parts=options.parts) for _ in range(options.count)]
    probes = "".join(json.dumps({"argv": argv, "files": FILES}) + "\n" for argv in lines)
    program = [sys.executable, str(Path(__file__).with_name("loaded_gcloud.py")), str(options.sdk)]
    counts = {"same": 0, "refused by both": 0, "asks": 0, "refused by us alone": 0, "wrong": 0}
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as player:
        assert player.stdin
        assert player.stdout
        for argv, probe in zip(lines, probes.splitlines(), strict=True):
            player.stdin.write(probe + "\n")
            player.stdin.flush()
            answer = json.loads(player.stdout.readline())
            found = read(argv, options.gcloud_version)
            kind = judge(found, answer)
            counts[kind] += 1
            if kind in {"wrong", "refused by us alone"}:
                sys.stdout.write(f"{kind}: {shlex.join(argv)}\n  ours: {found}\n  gcloud: {answer}\n")
                sys.stdout.flush()
        player.stdin.close()
    sys.stdout.write(json.dumps(counts) + "\n")
    sys.exit(counts["wrong"] > 0)


def judge(found: list[dict[str, Any]] | str, answer: dict[str, Any]) -> str:
    """Say how our reading and gcloud's answer relate."""
    if answer["asked"]:
        return "asks" if isinstance(found, str) else "wrong"
    if isinstance(found, str):
        return "refused by us alone" if answer["created"] else "refused by both"
    return "same" if found == answer["created"] else "wrong"


if __name__ == "__main__":
    main()
