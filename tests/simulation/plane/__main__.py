"""`python -m tests.simulation.plane`: play many histories of the whole plane and say what came of them."""

import argparse
import sys

import msgspec

from tests.simulation.plane.draw import BLOWS, STORIES, WAITING
from tests.simulation.plane.run import PlaneSetting, replay, shortest, story
from tests.simulation.run import Batch, run


def main() -> int:
    """Do what was asked for; 1 where a history failed."""
    arguments = _arguments()
    switched = {name for name in arguments.with_.split(",") if name}
    without = {*(() if arguments.all else WAITING), *arguments.without.split(",")} - switched - {""}
    setting = PlaneSetting(
        seed=arguments.seed, without=tuple(sorted(without)), hunts=arguments.hunt, story=arguments.story
    )
    if arguments.replay:
        faults, world = replay(arguments.replay, setting)
        _say("\n".join([*world.log, *(faults or ["nothing was wrong"])]))
        return bool(faults)
    return _histories(setting, arguments)


def _histories(setting: PlaneSetting, arguments: argparse.Namespace) -> int:
    whole = run(setting, arguments.histories, processes=arguments.processes, first=arguments.first)
    _say(_table(whole))
    if whole.failed is None:
        return 0
    _say(f"\nHistory {whole.failed} of seed {setting.seed} failed: {whole.faults[0]}\n")
    if arguments.line:
        short = shortest(setting, setting.history(whole.failed))
        _say(msgspec.json.encode({"what": whole.faults[0], "commands": short}).decode())
    else:
        _say(story(setting, whole.failed))
    return 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.plane", description=__doc__)
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--seed", default="1", help="any text; the same seed plays the same histories")
    parser.add_argument("--first", type=int, default=0, help="the number of the first history")
    parser.add_argument("--processes", type=int, default=0, help="0: one for each core")
    parser.add_argument("--without", default="", help=f"blows left out, of {', '.join((*BLOWS, *STORIES))}")
    parser.add_argument("--with", dest="with_", default="", help=f"blows let in, of {', '.join(WAITING)}")
    parser.add_argument("--all", action="store_true", help="let all blows in")
    parser.add_argument(
        "--hunt",
        action="store_true",
        help="play hunts: people act while sweeps sleep",
    )
    parser.add_argument("--story", default="", choices=["", *STORIES], help="have each history tell this one")
    parser.add_argument("--line", action="store_true", help="tell a failure as a line of found.jsonl")
    parser.add_argument("--replay", default="", help="play these commands, the JSON of a story")
    return parser.parse_args()


def _table(whole: Batch) -> str:
    count = whole.count
    rows = {
        "histories": whole.played,
        "a second": round(whole.played / whole.seconds, 1),
        "seconds": round(whole.seconds, 1),
        "events": count.events,
        "runs of functions": count.sweeps,
        "calls of a port": count.calls,
        "runs killed": count.kills,
        "answers lost": count.faults,
        "runs gone on with": count.switches,
        "attempts that ran": count.recoveries,
        "attempts given up": count.given_up,
        "notices in mails": count.mails,
        "VMs stopped or deleted": count.removed,
        "failed": 0 if whole.failed is None else 1,
    }
    return "\n".join(f"{name:24} {value:>12,}" for name, value in rows.items())


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
