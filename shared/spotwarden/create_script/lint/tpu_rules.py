"""Rules on machines with TPUs."""

import re
from collections.abc import Iterator

from spotwarden.create_script.lint.facts import Facts, LintFinding, LintInstance

TPU_MACHINE = re.compile(r"(?:ct\d+[a-z]*|tpu\d+x)-[a-z]+-\d+t(?:-tpu)?")
"""Machine types with TPUs (Google: "TPU machines in accelerator-optimized machine family")."""
_LISTED_ONLY = re.compile(r"ct5lp?-")
"""v5e: Compute Engine lists its machine types, and refuses to create an instance of one."""
_PLAIN_IMAGE = "/debian-cloud/"
_FAMILIES = (
    "--image-family=ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e (ubuntu-accel-2404-amd64-tpu-tpu7x for TPU7x) "
    "--image-project=ubuntu-os-accelerator-images"
)
"""Google: "TPU OS images"."""


def image_without_tpu(facts: Facts) -> Iterator[LintFinding]:
    """A machine with TPUs that boots gcloud's default image, in which no program can use them."""
    for launch, instance in facts.instances():
        if TPU_MACHINE.fullmatch(instance.machine_type) and _PLAIN_IMAGE in _boot_image(instance):
            text = f"Debian's image has no TPU driver; give {_FAMILIES}"
            yield LintFinding(launch.line_of("--image-project", "--machine-type"), "image-without-tpu", text)


def tpu_not_created(facts: Facts) -> Iterator[LintFinding]:
    """A machine type that is there for GKE and the Cloud TPU API only."""
    for launch, instance in facts.instances():
        if _LISTED_ONLY.match(instance.machine_type):
            text = (
                f"Compute Engine refuses to create {instance.machine_type}: v5e is for GKE and the Cloud TPU "
                "API; use a ct6e-standard machine"
            )
            yield LintFinding(launch.line_of("--machine-type"), "tpu-not-created", text)


def spot_tpu_that_stops(facts: Facts) -> Iterator[LintFinding]:
    """A spot VM with TPUs that is stopped when it is preempted: nobody can start it again."""
    for launch, instance in facts.instances():
        stops = instance.scheduling.get("instanceTerminationAction") == "STOP"
        if stops and instance.spot and TPU_MACHINE.fullmatch(instance.machine_type):
            text = (
                "a spot VM with TPUs can't be started again once it is stopped; give "
                "--instance-termination-action=DELETE, so that its zone is free for the next one"
            )
            yield LintFinding(launch.line_of("--instance-termination-action"), "spot-tpu-stops", text)


def _boot_image(instance: LintInstance) -> str:
    images = (
        disk.get("initializeParams", {}).get("sourceImage", "")
        for disk in instance.properties.get("disks", ())
        if disk.get("boot")
    )
    return str(next(images, ""))
