"""Recovery under trouble, with real function processes: `python tests/bench/recover_chaos.py [--jobs 100]`.

Plays one history on a local cloud of its own: jobs of every kind, preempted again and again, while markers
vanish, events are lost, doubled and late, calls go unanswered, zones run out, and the function is killed -9.
With `--people 250` people take part, and so many things happen in all: what they do, and what trouble does.
Prints what happened and every promise that was broken; ends with 1 where one was. At Ctrl-C and SIGTERM it
judges what has happened so far, ends all that it has started, and ends with 1 as well.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.e2e.chaos.crowd import CrowdPlan, play_crowd
from tests.e2e.chaos.ending import EndedEarly, ends_early
from tests.e2e.chaos.run import Plan, play


def main() -> int:
    """Play as the command line says, print, and give the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--preemptions", type=int, default=1000)
    parser.add_argument("--a-second", type=float, default=6.0, help="preemptions a second, on average")
    parser.add_argument("--kill-every", type=float, default=30.0, help="seconds, on average")
    parser.add_argument(
        "--wait-out", action="store_true", help="wait out what a killed sweep holds: leases, for five minutes"
    )
    parser.add_argument("--keep", type=Path, help="where the logs stay; else they go")
    parser.add_argument("--people", type=int, default=0, help="so many events, with people among them")
    given = parser.parse_args()
    plan = Plan(
        seed=given.seed,
        jobs=given.jobs,
        preemptions=given.preemptions,
        strangers=given.jobs // 5,
        ended=given.jobs // 10,
        deleted=given.jobs // 10,
        a_second=given.a_second,
        kill_every=given.kill_every,
        bury=not given.wait_out,
        trouble_within=3600,
        peace_within=600,
    )
    crowd = CrowdPlan(seed=given.seed, jobs=given.jobs, events=given.people)
    with ends_early(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        home = given.keep or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        report = play_crowd(crowd, home) if given.people else play(plan, home)
    much = f"{given.people} events" if given.people else f"{plan.preemptions} preemptions"
    print(f"seed {plan.seed}: {plan.jobs} jobs, {much}\n")
    print("\n".join([*report.lines(), *(f"violation: {fault}" for fault in report.faults)]))
    return 1 if report.faults or report.ended_early else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EndedEarly as ended:
        sys.exit(ended.status)
