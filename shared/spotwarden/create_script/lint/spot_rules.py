"""Rules on machines that may be taken away, and on accelerators."""

import re
from collections.abc import Iterator

from spotwarden.create_script.lint.facts import Facts, LintFinding, LintInstance
from spotwarden.create_script.lint.tpu_rules import TPU_MACHINE
from spotwarden.create_script.request.place import Immovable, move

# Machine types that have their GPUs built in (Google: "GPU machine types").
_GPU_MACHINES = re.compile(r"(?:a2|a3|a4|a4x|g2|g4)-")
_ZONE = re.compile(r"/zones/([a-z]+-[a-z]+\d+)-([a-z])/")
_SHUTDOWN = ("shutdown-script", "shutdown-script-url")


def no_shutdown_script(facts: Facts) -> Iterator[LintFinding]:
    """A spot machine that tells nobody when it is taken away."""
    for launch, instance in facts.instances():
        if instance.spot and not instance.has_metadata(*_SHUTDOWN) and not instance.from_template:
            text = (
                "a spot machine without a shutdown-script writes no marker: its preemption is found later, "
                "from the operations of the project"
            )
            yield LintFinding(launch.command.line, "no-shutdown-script", text)


def no_termination_action(facts: Facts) -> Iterator[LintFinding]:
    """A spot machine that stays behind, stopped and with its disks paid for."""
    for launch, instance in facts.instances():
        if instance.spot and "instanceTerminationAction" not in instance.scheduling:
            text = (
                "no --instance-termination-action: a preempted VM is stopped and keeps its name and disks; "
                "set DELETE, or STOP if you want that"
            )
            yield LintFinding(launch.command.line, "no-termination-action", text)


def no_maintenance_policy(facts: Facts) -> Iterator[LintFinding]:
    """A machine with GPUs or TPUs that Compute Engine refuses, since it cannot be migrated."""
    for launch, instance in facts.instances():
        tpus = TPU_MACHINE.fullmatch(instance.machine_type) is not None
        gpus = bool(instance.accelerators) or bool(_GPU_MACHINES.match(instance.machine_type))
        given = "onHostMaintenance" in instance.scheduling or instance.from_template
        if (gpus or tpus) and not given:
            what = "TPUs" if tpus else "GPUs"
            text = f"a machine with {what} needs --maintenance-policy=TERMINATE: gcloud does not add it"
            yield LintFinding(launch.command.line, "no-maintenance-policy", text)


def old_preemptible(facts: Facts) -> Iterator[LintFinding]:
    """The old kind of spot machine, which ends after a day."""
    for launch, instance in facts.instances():
        if instance.scheduling.get("preemptible") and "provisioningModel" not in instance.scheduling:
            text = "--preemptible ends after 24 hours at the latest; --provisioning-model=SPOT does not"
            yield LintFinding(launch.line_of("--preemptible"), "old-preemptible", text)


def tied_to_its_place(facts: Facts) -> Iterator[LintFinding]:
    """A spot machine that cannot be launched elsewhere when its zone has none."""
    for launch, instance in facts.instances():
        reasons = _reasons(instance) if instance.spot else ()
        if reasons:
            text = f"the job can only restart in this zone: {'; '.join(reasons)}"
            yield LintFinding(launch.command.line, "tied-to-its-zone", text)


def _reasons(instance: LintInstance) -> tuple[str, ...]:
    found = _ZONE.search(instance.request.path)
    if found is None:
        return ()
    region, letter = found.groups()
    moved = move(instance.request, f"{region}-{'b' if letter != 'b' else 'c'}")
    return moved.reasons if isinstance(moved, Immovable) else ()
