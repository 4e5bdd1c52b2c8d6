"""`python -m tests.simulation`: play many histories and say what came of them."""

import argparse
import sys
from collections.abc import Callable

from msgspec.structs import replace

from tests.simulation.commands import Kind
from tests.simulation.draw import BLOWS
from tests.simulation.mutations import MUTATIONS
from tests.simulation.run import Batch, Setting, play_all, replay, run, story


def main() -> int:
    """Do what was asked for; 1 where a history failed, or where a mutation was not found out."""
    arguments = _arguments()
    setting = Setting(
        seed=arguments.seed,
        kinds=tuple(Kind[name] for name in arguments.kinds.split(",")),
        without=tuple(name for name in arguments.without.split(",") if name),
        mutation=arguments.mutation,
    )
    return _todo(arguments)(setting, arguments)


def _todo(arguments: argparse.Namespace) -> Callable[[Setting, argparse.Namespace], int]:
    if arguments.mutations:
        return _mutations
    return _replay if arguments.replay else _histories


def _histories(setting: Setting, arguments: argparse.Namespace) -> int:
    whole = run(setting, arguments.histories, processes=arguments.processes, first=arguments.first)
    _say(_table(whole))
    if whole.failed is None:
        return 0
    again = f"--seed {setting.seed} --kinds {arguments.kinds} --first {whole.failed} --histories 1"
    _say(f"\nHistory {whole.failed} failed; play it again with {again}\n")
    _say(story(setting, whole.failed))
    return 1


def _replay(setting: Setting, arguments: argparse.Namespace) -> int:
    faults, world = replay(arguments.replay, setting)
    _say("\n".join([*world.log, *(faults or ["nothing was wrong"])]))
    return bool(faults)


def _mutations(setting: Setting, arguments: argparse.Namespace) -> int:
    """Say after how many histories each mutation is found out, and by what."""
    missed = 0
    for name in MUTATIONS:
        batch = play_all(range(arguments.histories), replace(setting, mutation=name))
        missed += batch.failed is None
        found = "never" if batch.failed is None else f"{batch.played:,}"
        _say(f"{name:46} {found:>7}  {batch.faults[0] if batch.faults else ''}")
    return bool(missed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", default="1", help="any text; the same seed plays the same histories")
    parser.add_argument("--first", type=int, default=0, help="the number of the first history")
    parser.add_argument("--processes", type=int, default=0, help="0: one for each core")
    parser.add_argument(
        "--kinds", default=",".join(kind.name for kind in Setting().kinds), help="kinds of jobs"
    )
    parser.add_argument("--without", default="", help=f"blows left out, of {', '.join(BLOWS)}")
    parser.add_argument("--mutation", default="", choices=["", *MUTATIONS], help="break the protocol so")
    parser.add_argument("--mutations", action="store_true", help="try all mutations, one after the other")
    parser.add_argument("--replay", default="", help="play these commands, the JSON of a story")
    return parser.parse_args()


def _table(whole: Batch) -> str:
    count = whole.count
    rows = {
        "histories": whole.played,
        "a second": round(whole.played / whole.seconds, 1),
        "seconds": round(whole.seconds, 1),
        "events": count.events,
        "sweeps": count.sweeps,
        "calls of a port": count.calls,
        "sweeps killed": count.kills,
        "answers lost": count.faults,
        "sweeps gone on with": count.switches,
        "attempts that ran": count.recoveries,
        "attempts given up": count.given_up,
        "failed": 0 if whole.failed is None else 1,
    }
    return "\n".join(f"{name:20} {value:>12,}" for name, value in rows.items())


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
