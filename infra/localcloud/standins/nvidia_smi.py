"""`nvidia-smi`: the virtual machine's GPUs, as busy as its processes make them."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from localcloud.standins.transport import give_up, guest

DRIVER = "550.90.07"
CUDA = "12.4"
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)
NO_DRIVER_STATUS = 9

Gpu = dict[str, Any]
Fact = Callable[[Gpu], str]

FACTS: dict[str, tuple[Fact, str]] = {
    "index": (lambda gpu: str(gpu["number"]), ""),
    "name": (lambda gpu: gpu["model"], ""),
    "gpu_name": (lambda gpu: gpu["model"], ""),
    "uuid": (lambda gpu: gpu["uuid"], ""),
    "gpu_uuid": (lambda gpu: gpu["uuid"], ""),
    "utilization.gpu": (lambda gpu: f"{gpu['utilization']:.0f}", "%"),
    "memory.total": (lambda gpu: str(gpu["memory_mib"]), "MiB"),
    "driver_version": (lambda _gpu: DRIVER, ""),
    "timestamp": (lambda _gpu: time.strftime("%Y/%m/%d %H:%M:%S.000"), ""),
    "count": (lambda gpu: str(gpu["count"]), ""),
    "pstate": (lambda gpu: "P0" if gpu["utilization"] else "P8", ""),
}
"""What `--query-gpu` can be asked: how to tell it, and its unit."""

UNKNOWN = frozenset(
    {"memory.used", "memory.free", "utilization.memory", "temperature.gpu", "power.draw", "fan.speed"}
)
"""What a real GPU tells and nobody can tell without one: answered as nvidia-smi does then."""


def main(_command: str, arguments: list[str]) -> int:
    """Print the table, the list (`-L`) or what `--query-gpu` asks for."""
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(
            "The local cloud's nvidia-smi: no option, -L, or --query-gpu=… --format=csv[,…] [-i N]\n"
        )
        return 0
    options = _read(arguments)
    gpus = json.loads(guest("GET", "/local/guest/gpus"))
    if not gpus:
        sys.stdout.write(NO_DRIVER)
        return NO_DRIVER_STATUS
    chosen = _choose([{**gpu, "count": len(gpus)} for gpu in gpus], options.get("id"))
    if "list" in options:
        _print_list(chosen)
    elif "query" in options:
        _print_csv(chosen, options["query"].split(","), options.get("format", "").split(","))
    else:
        _print_table(chosen)
    return 0


NAMES = {
    "-L": "list",
    "--list-gpus": "list",
    "--query-gpu": "query",
    "--format": "format",
    "-i": "id",
    "--id": "id",
}


def _read(arguments: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    words = list(arguments)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in NAMES:
            give_up(f"nvidia-smi: the local cloud's stand-in does not take {name!r}; see nvidia-smi -h", 6)
        if name in ("-i", "--format", "--query-gpu", "--id") and not equals:
            value = words.pop(0) if words else give_up(f"nvidia-smi: {name} wants a value", 6)
        options[NAMES[name]] = value
    if ("query" in options) != ("format" in options):
        give_up('"--query-gpu" and "--format=csv" must be given together.', 2)
    return options


def _choose(gpus: list[Gpu], wanted: str | None) -> list[Gpu]:
    if wanted is None:
        return gpus
    words = wanted.split(",")
    chosen = [gpu for gpu in gpus if str(gpu["number"]) in words or gpu["uuid"] in words]
    return chosen or give_up("No devices were found", 6)


def _print_list(gpus: list[Gpu]) -> None:
    for gpu in gpus:
        sys.stdout.write(f"GPU {gpu['number']}: {gpu['model']} (UUID: {gpu['uuid']})\n")


def _print_csv(gpus: list[Gpu], fields: list[str], form: list[str]) -> None:
    if form[0] != "csv" or not set(form[1:]) <= {"noheader", "nounits"}:
        give_up(f"nvidia-smi: --format is csv[,noheader][,nounits], not {','.join(form)!r}", 2)
    for field in fields:
        if field.strip() not in FACTS and field.strip() not in UNKNOWN:
            give_up(f'Field "{field}" is not a valid field to query.', 2)
    with_units = "nounits" not in form
    if "noheader" not in form:
        sys.stdout.write(", ".join(_title(field.strip(), with_units=with_units) for field in fields) + "\n")
    for gpu in gpus:
        sys.stdout.write(
            ", ".join(_cell(gpu, field.strip(), with_units=with_units) for field in fields) + "\n"
        )


def _title(field: str, *, with_units: bool) -> str:
    unit = FACTS[field][1] if field in FACTS else ""
    return f"{field} [{unit}]" if unit and with_units else field


def _cell(gpu: Gpu, field: str, *, with_units: bool) -> str:
    if field in UNKNOWN:
        return "[N/A]"
    tell, unit = FACTS[field]
    return f"{tell(gpu)} {unit}" if unit and with_units else tell(gpu)


LINE = "+" + "-" * 41 + "+" + "-" * 24 + "+" + "-" * 22 + "+\n"


def _print_table(gpus: list[Gpu]) -> None:
    head = f"NVIDIA-SMI {DRIVER}    Driver Version: {DRIVER}    CUDA Version: {CUDA}"
    sys.stdout.write(time.strftime("%a %b %d %H:%M:%S %Y\n"))
    sys.stdout.write("+" + "-" * 89 + "+\n" + f"| {head:<88}|\n" + LINE)
    sys.stdout.write(
        f"| {'GPU  Name':<40}|{'Memory-Usage':>23} | {'GPU-Util':>20} |\n" + LINE.replace("-", "=")
    )
    for gpu in gpus:
        memory = f"N/A / {gpu['memory_mib']}MiB"
        busy = f"{gpu['utilization']:.0f}%"
        sys.stdout.write(f"| {gpu['number']:>3}  {gpu['model']:<35}|{memory:>23} | {busy:>20} |\n" + LINE)
