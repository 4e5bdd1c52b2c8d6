"""What is said about idle GPUs and TPUs, and about those of which nobody knows."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.model.accelerators import is_tpu, noun
from spotwarden.model.finding import Finding, Reading, Subject
from spotwarden.model.fleet import KEEP_LABEL, Machine
from spotwarden.model.governance import Remedy
from spotwarden.model.rule_limits import IdleLimits
from spotwarden.model.spans import moment, span

RULE = "idle"
IDLE_LABEL = "spotwarden-idle"
TPU_TITLE = "has idle TPUs"
NO_METRICS, NO_TPU_METRICS = "gpu-metrics", "tpu-metrics"
"""The cases of a project whose GPU metrics, or TPU metrics, cannot be read at all."""
AGENT = (
    "install Google's Ops Agent on the VM. It reports NVIDIA GPUs without further settings: "
    "`curl -sSO https://dl.google.com/cloudagents/add-google-cloud-ops-agent-repo.sh && "
    "sudo bash add-google-cloud-ops-agent-repo.sh --also-install`"
)
"""Google: "Install the Ops Agent on individual VMs"."""
COLLECTOR = (
    "boot Google's TPU image. Its AI Telemetry Collector reports the TPU's duty cycle to Cloud Monitoring "
    'while a program uses the TPU. For other images see Google\'s "Monitor TPUs"'
)


def bad(
    machine: Machine,
    subject: Subject,
    limits: IdleLimits,
    *,
    began: datetime,
    now: datetime,
    top: float,
    cost: Mapping[str, str],
    spared: str,
) -> Finding | None:
    """The finding about a VM that idles since `began`; None where that is not long enough for a warning."""
    idle = now - began
    level = sum(idle >= limit for limit in limits.warn)
    if not level:
        return None
    return Finding(
        rule=RULE,
        subject=subject,
        reason=f"{_gpus(machine)} been below {limits.threshold:g}% for {span(idle)}.",
        todo=_todo(machine, now),
        evidence={**_evidence(machine, began, idle, top), **cost},
        level=level,
        ripe=idle >= limits.act,
        since=began,
        due=began + limits.act,
        exempt=spared,
        limits=limits,
        title=TPU_TITLE if is_tpu(machine.gpu) else "",
        labels={IDLE_LABEL: f"since-{began:%Y%m%d-%H%M}"},
    )


def only_told(finding: Finding, moved: datetime) -> Finding:
    """The finding about a VM whose program gets on: its owner hears of it, and nothing is done."""
    return replace(
        finding,
        reason=f"{finding.reason} Its program still makes progress, so Spotwarden takes no action.",
        evidence={**finding.evidence, "newest progress": moment(moved)},
        ripe=False,
        due=None,
        limits=replace(finding.limits, remedy=Remedy.NONE),
    )


def unknown(machine: Machine, subject: Subject, limits: IdleLimits, *, gap: str, spared: str) -> Finding:
    """The finding about a VM of whose GPUs nobody knows whether they work."""
    kind, what = f"{machine.gpus} x {machine.gpu or 'GPU'}", noun(machine.gpu)
    if gap:
        reason = f"Some metrics of the {what}s of {machine.name} are missing: {gap}."
    else:
        reason = f"The {what}s of {machine.name} report no metrics."
    todo = (
        f"check that the agent runs: `sudo systemctl status google-cloud-ops-agent`. If not, {AGENT}"
        if gap
        else AGENT
    )
    if is_tpu(machine.gpu):
        todo = COLLECTOR
    return Finding(
        rule=RULE,
        subject=subject,
        reading=Reading.UNKNOWN,
        reason=reason,
        todo=todo,
        evidence={f"{what}s": kind, "metric": gap or "never reported since it started"},
        exempt=spared,
        limits=limits,
        title=TPU_TITLE if is_tpu(machine.gpu) else "",
    )


def unread(machine: Machine, subject: Subject, limits: IdleLimits, problem: str) -> Finding:
    """The finding about a VM whose owner's limits nobody knows; a warning given stays as it is."""
    return Finding(
        rule=RULE,
        subject=subject,
        reading=Reading.UNKNOWN,
        reason=f"The limits of {machine.name}'s job are unknown: {problem}.",
        todo=f"if this lasts, check job.toml of {subject.job}",
        evidence={"problem": problem},
        limits=limits,
        title=TPU_TITLE if is_tpu(machine.gpu) else "",
    )


def blind(problem: str, limits: IdleLimits, *, tpus: bool) -> Finding:
    """The finding about a project whose GPU, or TPU, metrics cannot be read."""
    kind = "TPU" if tpus else "GPU"
    return Finding(
        rule=RULE,
        subject=Subject(key=NO_TPU_METRICS if tpus else NO_METRICS, ours=False),
        reading=Reading.UNKNOWN,
        reason=f"The project's {kind} metrics can't be read, so no VM can be judged idle by its {kind}s.",
        todo="Check the error below. A role may lack monitoring.timeSeries.list, or Cloud Monitoring"
        " may be down.",
        evidence={"error": problem},
        limits=limits,
        title=TPU_TITLE if tpus else "",
    )


def _gpus(machine: Machine) -> str:
    if machine.gpus == 1:
        return f"The {noun(machine.gpu)} of {machine.name} has"
    return f"All {machine.gpus} {noun(machine.gpu)}s of {machine.name} have"


def _evidence(machine: Machine, began: datetime, idle: timedelta, top: float) -> Mapping[str, str]:
    hours, what = machine.gpus * idle / timedelta(hours=1), noun(machine.gpu)
    return {
        f"{what}s": f"{machine.gpus} x {machine.gpu or 'GPU'}, all reporting",
        f"busiest {what}": f"{max(top, 0.0):.1f}%",
        "idle since": f"{began:%Y-%m-%d %H:%M} UTC",
        f"idle {what}-hours": f"{hours:.1f}",
    }


def _todo(machine: Machine, now: datetime) -> str:
    tomorrow = (now + timedelta(days=1)).date()
    what = "job" if machine.group else "VM"
    return (
        f"use the {noun(machine.gpu)}s, or stop the {what}. To exempt it for a day, run "
        f"`gcloud compute instances add-labels {machine.name} --zone={machine.zone} "
        f"--labels={KEEP_LABEL}={tomorrow}`"
    )
