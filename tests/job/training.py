"""A little training whose every step depends on each bit of the one before, and what became of it."""

import re
from typing import Any

STEPS = 400
NOTICE_SECONDS = 6
NOTICE = {
    "provisioningModel": "SPOT",
    "instanceTerminationAction": "DELETE",
    "preemptionNoticeDuration": {"seconds": "120"},
}
EARLY = {
    "spotwarden_early": "1",
    "spotwarden_notice": str(NOTICE_SECONDS),
    "spotwarden_reserve": "2",
    "spotwarden_sync": "300",
}
"""With no look at the output that would come by itself: what goes up does so because of the notice."""
TRAIN = """cat >train.py <<'END'
import json, os, time
import spotwarden_preemption as preemption

STEPS = %d
output = os.environ["SPOTWARDEN_OUTPUT"]
path = os.path.join(output, "state.json")
guard = preemption.guard()
state = json.load(open(path)) if os.path.exists(path) else {"step": 0, "weight": 0.5123}


def save():
    with open(path + ".tmp", "w") as file:
        json.dump(state, file)
    os.replace(path + ".tmp", path)


while state["step"] < STEPS:
    state["step"] += 1
    state["weight"] = 3.97 * state["weight"] * (1 - state["weight"])
    with open(os.path.join(output, "curve.csv"), "a") as curve:
        curve.write("%%d,%%r\\n" %% (state["step"], state["weight"]))
    print("step", state["step"], time.time())
    if guard.requested:
        save()
        print("saved at", state["step"])
    if guard.stopping:
        raise SystemExit(143)
    time.sleep(0.05)
save()
END
python3 train.py"""
TRAINING = TRAIN % STEPS


def undisturbed(steps: int = STEPS) -> list[str]:
    """The curve of a training that nothing befell."""
    weight, rows = 0.5123, []
    for step in range(1, steps + 1):
        weight = 3.97 * weight * (1 - weight)
        rows.append(f"{step},{weight!r}")
    return rows


def stepped(said: str) -> list[tuple[int, float]]:
    """Each step that a VM has said it made, and when; two processes may say theirs in one line."""
    return [(int(step), float(moment)) for step, moment in re.findall(r"\bstep (\d+) (\d+\.\d+)", said)]


def record(attempt: int, **values: Any) -> dict[str, Any]:
    """A record of the chain, as far as the job kit reads it."""
    return {"number": attempt, "instances": {}, "replaces": {}, "early": False, **values}
