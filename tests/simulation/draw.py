"""Draw a history from a seed: blows of fate, each followed by sweeps that disturb one another."""

from collections.abc import Callable, Collection, Iterator
from random import Random

from msgspec.structs import replace

from tests.simulation import commands as c
from tests.simulation.jobs import TOLD
from tests.simulation.product import LONG

Maker = Callable[[Random], c.Command]

HURT = (c.Word.EMPTY, c.Word.JSON, c.Word.JSON, c.Word.TWICE, c.Word.LATE, c.Word.LATE_EMPTY, c.Word.NONE)
LIES = (c.Word.NONE, c.Word.EMPTY, c.Word.JSON, c.Word.LATE)
FATES = (
    *[c.Then.PAUSE] * 4,
    *[c.Then.KILL_BEFORE] * 2,
    *[c.Then.KILL_AFTER] * 2,
    c.Then.LOST_BEFORE,
    c.Then.LOST_AFTER,
    c.Then.REFUSED,
)
BY_LEDGER = 0.2
"""How often a job is submitted through the ledger rather than launched by hand."""
ASLEEP = 0.04
FROZEN = 0.15
"""How often a blow is followed by a sweep that sleeps through a whole recovery."""
ALLOWED = 0.2
"""How many histories have jobs that may run on several machine types."""
OUT = 0.5
SHARED = 0.3
"""How many histories have other instances of the function."""
TWICE, NEVER = 0.3, 0.1
"""How often a message for one of them is delivered again, or lost."""
CHEAPER = 0.3
"""How many histories have a job that is moved to where it costs less."""
CORNERED = 0.3
"""How many others have a job that goes from on-demand back to spot in its only zone."""
REGIONAL = 0.4
"""How many of these jobs have all zones of their region."""
UNANNOUNCED = 0.3
"""How many histories have machine types that take no notice of a preemption."""
FORETOLD = 0.6
"""How many histories have gangs that bend whose nodes are told before they are taken."""
IN_VAIN = 0.3
"""How often one of them is told in vain, beside what else befalls it."""
BEFALLEN = 0.3
STRIKES = ("preempt", "preempt", "host", "remove", "stop", "announce", "hide", "lag", "forget", "finish")
"""What befalls it meanwhile."""
SKEWS = (0, 0, 0, -60, -20, 20, 60)


def _any(chance: Random) -> int:
    return chance.randrange(6)


BLOWS: dict[str, tuple[int, Maker]] = {
    "preempt": (24, lambda chance: c.Preempt(vm=_any(chance), word=chance.choice(HURT))),
    "announce": (4, lambda chance: c.Announce(vm=_any(chance), times=chance.choice((1, 1, 2)))),
    "host": (3, lambda chance: c.FailHost(vm=_any(chance))),
    "reboot": (2, lambda chance: c.Reboot(vm=_any(chance), word=chance.choice(HURT))),
    "finish": (
        3,
        lambda chance: c.Finish(job=_any(chance), leave=chance.random() < 0.6, word=chance.choice(LIES)),
    ),
    "crash": (1, lambda chance: c.Crash(job=_any(chance), word=chance.choice(LIES))),
    "remove": (
        2,
        lambda chance: c.Remove(job=_any(chance), keep=chance.random() < 0.3, word=chance.choice(LIES)),
    ),
    "stop": (2, lambda chance: c.Stop(job=_any(chance), keep=chance.random() < 0.3)),
    "namesake": (
        4,
        lambda chance: c.Namesake(job=_any(chance), zone=chance.randrange(3), labelled=chance.random() < 0.4),
    ),
    "interfere": (2, lambda chance: c.Interfere(vm=_any(chance), keep=chance.random() < 0.3)),
    "remove_node": (
        2,
        lambda chance: c.RemoveNode(job=_any(chance), node=_any(chance), keep=chance.random() < 0.3),
    ),
    "start_again": (3, lambda chance: c.StartAgain(job=_any(chance))),
    "lag": (2, lambda chance: c.Lag(seconds=chance.choice((60, 240, 600)))),
    "catch_up": (3, lambda _chance: c.Lag(seconds=0)),
    "relaunch": (2, lambda chance: c.Relaunch(job=_any(chance))),
    "stray": (1, lambda chance: c.Stray(job=_any(chance), broken=chance.random() < 0.5)),
    "stockout": (5, lambda chance: c.Stock(zone=_any(chance), left=chance.choice((0, 0, 1)))),
    "restock": (5, lambda chance: c.Stock(zone=_any(chance), left=None)),
    "hide": (3, lambda chance: c.Hide(zone=_any(chance))),
    "show": (4, lambda chance: c.Hide(zone=_any(chance), hidden=False)),
    "forget": (4, lambda chance: c.Forget(requests=chance.random() < 0.5)),
    "forbid": (2, lambda _chance: c.Forbid()),
    "permit": (3, lambda _chance: c.Forbid(forbidden=False)),
}
"""What may befall the world, how often, and how it is drawn."""


def draw(seed: str, *, kinds: Collection[c.Kind], without: Collection[str] = ()) -> list[c.Command]:
    """The history of this seed, of jobs of these kinds, without these blows; always the same."""
    chance = Random(seed)
    choice = sorted(kinds, key=lambda kind: kind.name)
    drawn: list[c.Command] = [_submitted(chance, choice) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    drawn.append(c.Pass(seconds=chance.choice((0, 20, 120, 240))))
    names = [name for name in BLOWS if name not in without]
    weights = [BLOWS[name][0] for name in names]
    for name in chance.choices(names, weights, k=chance.randint(2, 7)):
        blow = BLOWS[name][1](chance)
        drawn.append(blow)
        if isinstance(blow, c.Remove) and blow.keep and "start_again" not in without:
            drawn.extend(_started_again(chance))
        drawn.append(c.Pass(seconds=chance.choice((0, 5, 20, 35, 40, 60, 60))))
        after = chance.choices((_frozen, _asleep, _sweeps), (FROZEN, ASLEEP, 1 - FROZEN - ASLEEP))[0]
        drawn.extend(after(chance))
    moved = Random(f"{seed}/cheaper")
    moves = "cheaper" not in without and c.Kind.EARLY in choice and moved.random() < CHEAPER
    if moves:
        drawn = [*_cheaper(moved, drawn)]
    # Drawn from a seed of its own: histories without it are what they were before there was any of it.
    apart = Random(f"{seed}/cornered")
    if not moves and "corner" not in without and c.Kind.EARLY in choice and apart.random() < CORNERED:
        drawn, moves = [*_cornered(apart, drawn)], True
        drawn = regional(f"{seed}/regional", drawn)
    apart = Random(f"{seed}/machines")
    if not moves and "machines" not in without and apart.random() < ALLOWED:
        drawn = [*_allowed(apart, drawn)]
    apart = Random(f"{seed}/told")
    told = "told" not in without and c.Kind.BENT in choice and apart.random() < FORETOLD
    if told:
        drawn = [*_foretold(apart, drawn)]
    apart = Random(f"{seed}/notice")
    if "notice" not in without and (told or TOLD & {*choice}) and apart.random() < UNANNOUNCED:
        drawn = [*_unannounced(apart, drawn)]
    apart = Random(f"{seed}/shared")
    return drawn if "share" in without or apart.random() >= SHARED else [*_shared(apart, drawn)]


def _allowed(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same, of jobs that may run on other machine types, in zones that run out of one or the other."""
    for command in drawn:
        if isinstance(command, c.Preempt | c.FailHost | c.Sweep) and chance.random() < OUT:
            yield c.RunOut(
                zone=_any(chance), machine=chance.choice((0, 0, 0, 1, 2)), out=chance.random() < 0.7
            )
        yield command
        if isinstance(command, c.Submit | c.SubmitByLedger) or chance.random() < 0.03:
            yield c.Allow(job=_any(chance), machines=chance.choice((1, 2, 2, 2, 0)))


def _foretold(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same, of gangs that bend whose nodes are told before they are taken, or in vain."""
    for command in drawn:
        if isinstance(command, c.Preempt | c.FailHost | c.RemoveNode) and chance.random() < IN_VAIN:
            yield c.Announce(vm=_any(chance), times=chance.choice((1, 2)))
            yield c.Pass(seconds=chance.choice((1, 30, 95, 130)))
        is_launch = isinstance(command, c.Submit | c.SubmitByLedger) and command.kind is c.Kind.BENT
        yield replace(command, told=True) if is_launch else command
        if isinstance(command, c.Preempt) and chance.random() < OUT:
            # A sweep between its word and its end.
            yield c.Pass(seconds=95)
            yield replace(_sweep(chance), about=None)


def _unannounced(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same, where machine types are refused with a notice, from now or later on, or taken again."""
    for command in drawn:
        if isinstance(command, c.Preempt | c.Announce | c.Cheaper | c.Sweep) and chance.random() < OUT:
            machine, named = chance.choice((0, 0, 0, 1)), chance.random() < OUT
            yield c.Notice(machine=machine, named=named, refused=chance.random() < 0.8)
        yield command


def _cheaper(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with a job that is moved: sweeps are killed on the way, and it is struck in between."""
    yield c.Submit(kind=c.Kind.EARLY, zone=chance.randrange(3))
    yield from (c.Pass(seconds=90), c.Sweep(), c.Pass(seconds=60), c.Sweep())
    at = chance.randrange(len(drawn))
    yield from drawn[:at]
    left, job = chance.choice((None, None, 0)), _any(chance)
    for _ in range(chance.choice((2, 3, 4))):
        yield c.Cheaper(left=left, job=job)
        yield replace(_sweep(chance), about=None, skew=chance.choice((0, 0, 20)))
        yield c.Pass(seconds=chance.choice((1, 5, 20, 60, 130)))
        if chance.random() < BEFALLEN:
            yield BLOWS[chance.choice(STRIKES)][1](chance)
    yield from drawn[at:]


def _cornered(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with a job in one zone: it becomes on-demand there, and goes back to spot beside that VM."""
    yield c.Submit(kind=c.Kind.EARLY, zone=chance.randrange(3))
    yield from (c.Pass(seconds=90), c.Sweep(), c.Pass(seconds=60), c.Sweep())
    at, job = chance.randrange(len(drawn)), _any(chance)
    yield from drawn[:at]
    yield c.Corner(job=job, ladder=chance.random() < 0.4)
    for _ in range(chance.choice((1, 2, 2))):
        yield from _on_demand(chance)
        for _ in range(chance.choice((1, 2, 3))):
            if chance.random() < 0.2:
                yield c.Namesake(job=job, zone=_any(chance), labelled=chance.random() < 0.4, second=True)
            if chance.random() < 0.8:
                yield c.SpotRoom(out=False)
            yield c.Cheaper(job=job)
            yield replace(_sweep(chance), about=None, skew=chance.choice((0, 0, 20)))
            yield c.Pass(seconds=chance.choice((1, 5, 20, 60, 130)))
            if chance.random() < BEFALLEN:
                yield BLOWS[chance.choice(STRIKES)][1](chance)
    yield from drawn[at:]


def regional(seed: str, drawn: list[c.Command]) -> list[c.Command]:
    """The same with a job that may go to all zones of its region, or not."""
    chosen = Random(seed).random() < REGIONAL
    return [
        replace(command, regional=chosen) if isinstance(command, c.Corner) else command for command in drawn
    ]


def _on_demand(chance: Random) -> Iterator[c.Command]:
    """Its spot VM is taken, there is no other one, and it gets an on-demand VM."""
    yield c.SpotRoom()
    yield c.Preempt(vm=_any(chance), word=chance.choice(HURT))
    for seconds in (170, 60, 60, 60, 60, 40):
        yield from (c.Pass(seconds=seconds), c.Sweep())


def _shared(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with several instances: what sweeps publish is delivered in turns, twice, late or never."""
    yield c.Share(above=chance.choice((0, 0, 1)))
    for command in drawn:
        yield command
        if isinstance(command, c.Sweep | c.Run):
            for _ in range(chance.choice((0, 1, 1, 2))):
                yield _delivered(chance)


def _delivered(chance: Random) -> c.Command:
    sweep = _sweep(chance)
    return c.Deliver(
        message=_any(chance),
        keep=chance.random() < TWICE,
        lost=chance.random() < NEVER,
        skew=sweep.skew,
        calls=sweep.calls,
        then=sweep.then,
        changes=sweep.changes,
    )


def _started_again(chance: Random) -> Iterator[c.Command]:
    """A sweep sees what was stopped, then its owner starts it again, and then it is struck, perhaps."""
    yield c.Pass(seconds=40)
    yield from (c.Sweep(), c.Sweep()) if chance.random() < 0.8 else ()
    yield c.StartAgain()
    yield from (c.Sweep(),) if chance.random() < 0.5 else ()
    yield c.Preempt(vm=_any(chance), word=chance.choice(HURT))


def _submitted(chance: Random, kinds: list[c.Kind]) -> c.Command:
    if chance.random() < BY_LEDGER:
        return c.SubmitByLedger(
            kind=chance.choice(kinds),
            zone=chance.randrange(3),
            nodes=chance.choice((2, 3)),
            calls=chance.randint(1, 12),
            then=chance.choice((c.Then.GO_ON, *FATES)),
        )
    return c.Submit(kind=chance.choice(kinds), zone=chance.randrange(3), nodes=chance.choice((2, 2, 3)))


def _sweeps(chance: Random) -> Iterator[c.Command]:
    """One to three sweeps in turns, with time passing between them."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        yield _sweep(chance)
    for _ in range(chance.choice((0, 1, 2, 4, 6))):
        yield chance.choices((_run, _pass, _sweep), (6, 4, 2))[0](chance)


def _frozen(chance: Random) -> Iterator[c.Command]:
    """A sweep that stands still while others bring the job back and it is hit again; then it goes on."""
    yield c.Sweep(about=_about(chance), calls=chance.randint(1, 40), then=c.Then.PAUSE)
    for _ in range(chance.choice((2, 3))):
        yield c.Sweep(about=_any(chance))
        yield c.Pass(seconds=chance.choice((20, 30, 60)))
    yield c.Preempt(vm=_any(chance), word=chance.choice(HURT))
    yield c.Pass(seconds=chance.choice((5, 40, 60)))
    if chance.random() < 0.7:
        yield c.Sweep(about=_about(chance), calls=chance.randint(1, 40), then=c.Then.PAUSE)
    yield c.Run(sweep=0, calls=chance.randint(1, 20), then=chance.choice((c.Then.GO_ON, c.Then.PAUSE)))


def _asleep(chance: Random) -> Iterator[c.Command]:
    """A sweep that sleeps past its lease just before it asks; the next one is refused and asks elsewhere."""
    about = _about(chance)
    yield c.Sweep(about=about, changes=True, calls=chance.randint(3, 9), then=c.Then.PAUSE)
    yield c.Pass(seconds=int(LONG.total_seconds()))
    yield c.Sweep(about=about, changes=True, calls=chance.randint(1, 6), then=c.Then.REFUSED)
    yield c.Run(sweep=1)
    for _ in range(3):
        yield c.Pass(seconds=60)
        yield c.Sweep(about=about)
    yield c.Run(sweep=0)


def _about(chance: Random) -> int | None:
    return None if chance.random() < 0.4 else _any(chance)


def _sweep(chance: Random) -> c.Sweep:
    whole = chance.random() < 0.3
    return c.Sweep(
        about=_about(chance),
        skew=chance.choice(SKEWS),
        calls=chance.randint(1, 30),
        then=c.Then.GO_ON if whole else chance.choice(FATES),
        changes=chance.random() < 0.7,
    )


def _run(chance: Random) -> c.Command:
    whole = chance.random() < 0.4
    return c.Run(
        sweep=chance.randrange(4),
        calls=chance.randint(1, 8),
        then=c.Then.GO_ON if whole else chance.choice(FATES),
        changes=chance.random() < 0.6,
    )


def _pass(chance: Random) -> c.Command:
    spans = (1, 5, 10, 20, 30, 60, 130, int(LONG.total_seconds()))
    return c.Pass(seconds=chance.choice(spans))
