"""What Google's own packages cost a function before its first line: `import_floor.py [ROUNDS]`.

Each row is a fresh process that imports one package more than the row before, compiled, with no search for
garbage meanwhile. The last is all that a sweep of `flag_idle_gpus` imports, Spotwarden included. Medians.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "Python": "",
    "functions-framework": "import functions_framework, cloudevents.http",
    "google-auth, with requests and gRPC": "import google.auth.transport.requests, google.api_core.retry",
    "google-cloud-monitoring": "from google.cloud import monitoring_v3",
}
SWEEP = "import main, spotwarden.gcp.storage, spotwarden.gcp.compute, spotwarden.gcp.monitoring"
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cost(imports: str) -> tuple[float, float]:
    """Seconds of processor time and megabytes at the peak of a process that imports this and ends."""
    code = f"import gc; gc.disable(); {imports}"
    folder = ROOT / "functions/flag_idle_gpus"
    process = subprocess.Popen([sys.executable, "-c", code], env=COMPILED, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"cannot be imported: {imports}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(rounds: int) -> None:
    """Measure and print a table."""
    print("| imported | processor time | memory at the peak |\n|---|---|---|")
    imports = ""
    rows = dict[str, str]()
    for name, line in PACKAGES.items():
        imports = "; ".join(filter(None, (imports, line)))
        rows[name] = imports
    for name, code in {**rows, "all of a sweep": SWEEP}.items():
        costs = [cost(code) for _ in range(rounds + 1)][1:]
        cpu, peak = (statistics.median(figures) for figures in zip(*costs, strict=True))
        print(f"| {name} | {cpu:.2f} s | {peak:.0f} MB |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
