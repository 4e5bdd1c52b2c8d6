"""Draw a history of the plane from a seed: blows, each followed by time, and by sweeps in turns."""

from collections.abc import Callable, Collection, Iterator, Mapping
from random import Random

from msgspec.structs import replace

from tests.simulation import commands as c
from tests.simulation.draw import FATES, FORETOLD, HURT, IN_VAIN, LIES, SKEWS, regional
from tests.simulation.plane import commands as p

Maker = Callable[[Random], c.Command]

KINDS = (c.Kind.SOLO, c.Kind.KEPT, c.Kind.GANG, c.Kind.ROAM, c.Kind.MUTE)
WAITING: Mapping[str, str] = {}
"""Blows that are switched off until what mends their fault is merged, and what that is."""


def anyone(chance: Random) -> int:
    """A number that picks one of those that it can happen to."""
    return chance.randrange(6)


def person(chance: Random, *verbs: p.Verb, whole: bool = True) -> p.Gcloud:
    """A person does one of these to a VM, or to all of its job."""
    return p.Gcloud(vm=anyone(chance), verb=chance.choice(verbs), whole=whole, word=chance.choice(LIES))


def launched(chance: Random, kinds: Collection[c.Kind]) -> p.Launch:
    """An owner launches a job of one of these kinds."""
    return p.Launch(
        kind=chance.choice(list(kinds)),
        zone=chance.randrange(3),
        nodes=chance.choice((2, 2, 3)),
        typed=chance.random() < 0.25,
        gpus=chance.choice((0, 1, 1)),
        shy=chance.random() < 0.3,
        mute=chance.random() < 0.2,
        capped=chance.random() < 0.2,
        odd=chance.random() < 0.1,
        owned=chance.random() < 0.8,
    )


def _typed(chance: Random) -> p.Type:
    whole = chance.random() < 0.6
    return p.Type(
        job=anyone(chance),
        spell=chance.choice(list(p.Spell)),
        calls=chance.randint(1, 9),
        then=c.Then.GO_ON if whole else chance.choice(FATES),
    )


def _clicked(chance: Random) -> p.Click:
    whole = chance.random() < 0.7
    return p.Click(
        mail=chance.randrange(4),
        answer=chance.choice(list(p.Answer)),
        calls=chance.randint(1, 6),
        then=c.Then.GO_ON if whole else chance.choice(FATES),
    )


BLOWS: Mapping[str, tuple[int, Maker]] = {
    "preempt": (14, lambda chance: c.Preempt(vm=anyone(chance), word=chance.choice(HURT))),
    "host": (2, lambda chance: c.FailHost(vm=anyone(chance))),
    "reboot": (1, lambda chance: c.Reboot(vm=anyone(chance), word=chance.choice(HURT))),
    "repair": (1, lambda chance: p.Repair(vm=anyone(chance))),
    "mood": (12, lambda chance: p.Behave(vm=anyone(chance), mood=chance.choice(list(p.Mood)), whole=True)),
    "mood one": (3, lambda chance: p.Behave(vm=anyone(chance), mood=chance.choice(list(p.Mood)))),
    "end": (5, lambda chance: p.End(job=anyone(chance), leave=chance.random() < 0.4)),
    "collapse": (1, lambda chance: p.Collapse(job=anyone(chance), word=chance.choice(LIES))),
    "person": (4, lambda chance: person(chance, p.Verb.DELETE, p.Verb.STOP)),
    "person late": (
        3,
        lambda chance: p.Gcloud(vm=anyone(chance), whole=True, late=True, word=chance.choice(LIES)),
    ),
    "person one": (2, lambda chance: person(chance, p.Verb.DELETE, p.Verb.STOP, whole=False)),
    "person start": (2, lambda chance: person(chance, p.Verb.START)),
    "suspend": (1, lambda chance: person(chance, p.Verb.SUSPEND, p.Verb.RESUME)),
    "type": (8, _typed),
    "click": (10, _clicked),
    "launch": (3, lambda chance: launched(chance, KINDS)),
    "namesake": (2, lambda chance: p.Namesake(job=anyone(chance), zone=anyone(chance))),
    "managed": (1, lambda chance: p.Namesake(job=anyone(chance), zone=anyone(chance), managed=True)),
    "deceive": (
        4,
        lambda chance: p.Deceive(
            by=anyone(chance), about=anyone(chance), lie=chance.choice((*p.Lie, p.Lie.STATUS, p.Lie.STATUS))
        ),
    ),
    "policy": (4, lambda chance: p.SetPolicy(change=chance.choice(list(p.PolicyChange)))),
    "observe": (3, lambda _chance: p.SetPolicy(change=p.PolicyChange.OBSERVE)),
    "topic": (2, lambda chance: p.Topic(late=chance.choice((0, 0, 60, 900)), twice=chance.random() < 0.5)),
    "outage": (
        6,
        lambda chance: p.Outage(
            port=chance.choice(list(p.Port)),
            fault=chance.choice(list(p.Fault)),
            seconds=chance.choice((30, 120, 600, 2400)),
        ),
    ),
    "lag": (2, lambda chance: p.Lag(seconds=chance.choice((30, 240, 600)))),
    "lag short": (1, lambda chance: p.Lag(seconds=chance.choice((0, 20, 90)))),
    "stray": (1, lambda chance: c.Stray(job=anyone(chance), broken=chance.random() < 0.5)),
    "stockout": (3, lambda chance: c.Stock(zone=anyone(chance), left=chance.choice((0, 0, 1)))),
    "restock": (3, lambda chance: c.Stock(zone=anyone(chance), left=None)),
    "hide": (3, lambda chance: c.Hide(zone=anyone(chance))),
    "show": (3, lambda chance: c.Hide(zone=anyone(chance), hidden=False)),
    "hide log": (3, lambda chance: p.HideLog(zone=anyone(chance))),
    "show log": (3, lambda chance: p.HideLog(zone=anyone(chance), hidden=False)),
    "forget": (2, lambda chance: c.Forget(requests=chance.random() < 0.5)),
    "forbid": (1, lambda _chance: c.Forbid()),
    "permit": (2, lambda _chance: c.Forbid(forbidden=False)),
}
"""What may befall the world, how often, and how it is drawn."""
PACED = 0.15
"""How often the bucket takes one write a second to one object."""
SHARED = 0.25
"""How often recovery leaves its jobs to other instances."""
REWRITTEN = 0.05
"""How often an owner stores another script right after the first launch."""
MORE = 0.25
"""How often one of the stories below happens besides."""
OUT = 0.4
"""How often a zone runs out of a machine type before a VM is lost, or before a sweep."""
BEFALLEN = 0.5
"""How often something befalls a job while it is moved."""
STRIKES = ("preempt", "preempt", "host", "person", "person one", "outage", "hide", "mood", "end", "collapse")
CLIMBING = (c.Kind.SOLO, c.Kind.KEPT, c.Kind.MUTE)
"""Of these a job may climb a ladder: a gang's has no Flex-start VMs."""
WEEK = 7 * 24 * 3_600
"""Seconds that a Flex-start VM may run at most."""
BEFALL_WAITING = (*STRIKES, "preempt", "person", "person", "type", "type", "lag", "click", "stockout", "host")
LOSSES = (c.Preempt, c.FailHost, p.Gcloud, p.Collapse, p.Type, c.Stock)
"""After these somebody runs a script again, in the story of that."""
LONG = ("mood", "mood one", "end", "click", "observe")
"""After these governance takes its time."""


def draw(
    seed: str, *, kinds: Collection[c.Kind] = KINDS, without: Collection[str] = (), story: str = ""
) -> list[c.Command]:
    """The history of this seed, of jobs of these kinds, without these blows; always the same.

    With a `story` it tells that one and no other.
    """
    drawn = regional(f"{seed}/regional", _drawn(seed, kinds, without, story))
    bent = any(isinstance(command, p.Launch) and command.kind is c.Kind.BENT for command in drawn)
    apart = Random(f"{seed}/told")
    told = bent and "told" not in without and apart.random() < FORETOLD
    return [*_foretold(apart, drawn)] if told else drawn


def _drawn(seed: str, kinds: Collection[c.Kind], without: Collection[str], story: str) -> list[c.Command]:
    chance = Random(seed)
    choice = sorted(kinds, key=lambda kind: kind.name)
    drawn: list[c.Command] = [launched(chance, choice) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
    if chance.random() < PACED:
        drawn.append(p.Pace())
    drawn.append(p.Tick(minutes=chance.choice((2, 12, 20))))
    names = [name for name in BLOWS if name not in without]
    weights = [BLOWS[name][0] for name in names]
    for name in chance.choices(names, weights, k=chance.randint(2, 6)):
        drawn.append(BLOWS[name][1](chance))
        drawn.extend(_after(name, chance, without))
    # Drawn from a seed of its own: histories without it are what they were before there was any of it.
    if "rewrite" not in without and (apart := Random(f"{seed}/rewrite")).random() < REWRITTEN:
        # Before any sweep has compared the script with what runs.
        drawn.insert(1, p.Rewrite())
    if "others" not in without and (apart := Random(f"{seed}/others")).random() < SHARED:
        drawn.insert(0, p.Others(above=apart.choice((0, 0, 1))))
    if "more" not in without and (apart := Random(f"{seed}/more")).random() < MORE:
        place = apart.randrange(3, len(drawn) + 1)
        drawn[place:place] = apart.choice((_rewritten, _forged, _announced, _regretted))(apart)
    if story:
        return [*STORIES[story][1](Random(f"{seed}/{story}"), drawn)]
    for name, (share, told) in STORIES.items():
        if name not in without and (apart := Random(f"{seed}/{name}")).random() < share:
            return [*told(apart, drawn)]
    return drawn


def _bent(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with a gang that bends: nodes of it are lost, in its middle or in all of it."""
    launch = launched(chance, (c.Kind.BENT,))
    # No rule may stop more than three VMs at once unless ops approve.
    yield replace(launch, nodes=chance.choice((2, 3, 3)), capped=False, mute=False)
    yield p.Tick(minutes=chance.choice((2, 12)))
    at = chance.randrange(len(drawn) + 1)
    yield from drawn[:at]
    for _ in range(chance.choice((1, 2, 3))):
        name = chance.choice(STRIKES)
        yield BLOWS[name][1](chance)
        yield c.Pass(seconds=chance.choice((1, 5, 35, 60)))
        yield from _sweeps(chance)
        if chance.random() < 0.5:
            yield p.Tick(minutes=chance.choice((5, 20, 60)))
    yield from drawn[at:]


def _foretold(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with gangs that bend whose nodes are told before they are taken, or in vain."""
    for command in drawn:
        if isinstance(command, c.Preempt | c.FailHost | p.Gcloud) and chance.random() < IN_VAIN:
            yield c.Announce(vm=anyone(chance), times=chance.choice((1, 2)))
            yield c.Pass(seconds=chance.choice((1, 35, 95, 130)))
        is_bent = isinstance(command, p.Launch) and command.kind is c.Kind.BENT
        yield replace(command, told=True) if is_bent else command
        if isinstance(command, c.Preempt) and chance.random() < OUT:
            # A sweep between its word and its end.
            yield c.Pass(seconds=95)
            yield replace(_sweep(chance), function=p.Function.RECOVER, about=None)


def _machines(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same, of jobs that may run on other machine types, in zones that run out of one or the other."""
    for command in drawn:
        if isinstance(command, c.Preempt | c.FailHost | p.Sweep) and chance.random() < OUT:
            machine, out = chance.choice((0, 0, 0, 1, 2)), chance.random() < 0.7
            for zone in range(3) if chance.random() < 0.5 else [anyone(chance)]:
                yield c.RunOut(zone=zone, machine=machine, out=out)
        yield command
        if isinstance(command, p.Launch) or chance.random() < 0.03:
            yield c.Allow(job=anyone(chance), machines=chance.choice((1, 2, 2, 2, 0)))


def _cheaper(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with a job that is moved: sweeps are killed on the way, and it is struck in between."""
    launch = launched(chance, (c.Kind.EARLY,))
    yield replace(launch, gpus=chance.choice((0, 0, 1)), capped=False, mute=False, odd=False)
    yield p.Tick(minutes=chance.choice((5, 12)))
    at = chance.randrange(len(drawn) + 1)
    yield from drawn[:at]
    left, job = chance.choice((None, None, 0)), anyone(chance)
    for _ in range(chance.choice((2, 3, 4))):
        yield c.Cheaper(left=left, job=job)
        yield replace(_sweep(chance), function=p.Function.RECOVER, about=None, skew=chance.choice((0, 0, 20)))
        yield c.Pass(seconds=chance.choice((1, 5, 20, 60, 130)))
        if chance.random() < BEFALLEN:
            yield BLOWS[chance.choice(STRIKES)][1](chance)
        if chance.random() < 0.3:
            yield p.Tick(minutes=chance.choice((5, 20)))
    yield from drawn[at:]


def _cornered(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with a job in one zone: it becomes on-demand there, and goes back to spot beside that VM."""
    launch = launched(chance, (c.Kind.EARLY,))
    yield replace(launch, gpus=chance.choice((0, 0, 1)), capped=False, mute=False, odd=False)
    yield p.Tick(minutes=chance.choice((5, 12)))
    at, job = chance.randrange(len(drawn) + 1), anyone(chance)
    yield from drawn[:at]
    yield c.Corner(job=job, ladder=chance.random() < 0.4)
    for _ in range(chance.choice((1, 2))):
        yield c.SpotRoom()
        for vm in range(chance.choice((1, 2, 3, 4))):
            yield c.Preempt(vm=vm, word=chance.choice(HURT))
        yield p.Tick(minutes=chance.choice((8, 12, 20)))
        for _ in range(chance.choice((1, 2, 3))):
            if chance.random() < 0.2:
                yield p.Namesake(job=job, zone=anyone(chance), second=True)
            if chance.random() < 0.8:
                yield c.SpotRoom(out=False)
            yield c.Cheaper(job=job)
            swept = replace(_sweep(chance), function=p.Function.RECOVER, about=None)
            yield replace(swept, skew=chance.choice((0, 0, 20)))
            yield c.Pass(seconds=chance.choice((1, 5, 20, 60, 130)))
            if chance.random() < BEFALLEN:
                yield BLOWS[chance.choice(STRIKES)][1](chance)
            if chance.random() < 0.3:
                yield p.Tick(minutes=chance.choice((5, 20)))
    yield from drawn[at:]


def _flex(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same with a job whose VM waits for room, in zones that run out and have some again."""
    climbs = chance.random() < 0.3
    launch = launched(chance, CLIMBING if climbs else (c.Kind.FLEX,))
    if chance.random() < 0.6:
        yield from _room(chance, left=0)
    yield replace(
        launch,
        valid=chance.choice((300, 300, 1_800, 7_200)),
        longest=chance.choice((WEEK, WEEK, 1_800, 5_400)),
        kept=chance.random() < 0.3,
        climbs=climbs,
    )
    yield p.Tick(minutes=chance.choice((2, 12, 35)))
    at = chance.randrange(len(drawn) + 1)
    yield from drawn[:at]
    for _ in range(chance.choice((2, 3, 4))):
        if chance.random() < 0.7:
            yield from _room(chance, left=chance.choice((0, 0, 1, None)))
        yield BLOWS[chance.choice(BEFALL_WAITING)][1](chance)
        yield c.Pass(seconds=chance.choice((1, 5, 35, 60)))
        yield from _sweeps(chance)
        if chance.random() < 0.7:
            yield p.Tick(minutes=chance.choice((2, 6, 12, 45, 130)))
    yield from drawn[at:]


def _room(chance: Random, left: int | None) -> Iterator[c.Command]:
    """A zone, or all of them, have room for so many VMs, or for any number."""
    for zone in range(3) if chance.random() < 0.7 else [anyone(chance)]:
        yield c.Stock(zone=zone, left=left)


def _rerun(chance: Random, drawn: list[c.Command]) -> Iterator[c.Command]:
    """The same, and after what befalls a job somebody runs its script again, while sweeps are at work."""
    for command in drawn:
        yield command
        if not isinstance(command, LOSSES) or chance.random() < 0.3:
            continue
        yield c.Pass(seconds=chance.choice((1, 35, 45, 60, 130)))
        if chance.random() < 0.5:
            yield from _sweeps(chance)
        yield p.Rerun(job=anyone(chance), colleague=chance.random() < 0.3)
        yield c.Pass(seconds=chance.choice((1, 5, 20, 35, 60)))
        yield from _sweeps(chance)
        if chance.random() < 0.5:
            yield p.Tick(minutes=chance.choice((2, 6, 15)))
        if chance.random() < 0.4:
            yield c.Preempt(vm=anyone(chance), word=chance.choice(HURT))
            yield c.Pass(seconds=chance.choice((5, 35, 60)))
            yield from _sweeps(chance)


STORIES: Mapping[str, tuple[float, Callable[[Random, list[c.Command]], Iterator[c.Command]]]] = {
    "machines": (0.15, _machines),
    "cheaper": (0.12, _cheaper),
    "bent": (0.15, _bent),
    "flex": (0.15, _flex),
    "cornered": (0.12, _cornered),
    "rerun": (0.0, _rerun),
}
"""What else a history may be about, how often, and how it is told; at most one of them."""


def _rewritten(chance: Random) -> list[c.Command]:
    """An owner stores another script, and the job is lost."""
    return [p.Rewrite(job=anyone(chance)), *_lost(chance)]


def _forged(chance: Random) -> list[c.Command]:
    """A job is lost, and while it is brought back the VM of another writes that its attempt has ended."""
    lie = chance.choice((p.Lie.STATUS_AS, p.Lie.STATUS_AS, p.Lie.BEAT_END))
    told = p.Deceive(by=anyone(chance), about=anyone(chance), lie=lie)
    return [*_lost(chance), told, p.Tick(minutes=chance.choice((5, 30)))]


def _announced(chance: Random) -> list[c.Command]:
    """A VM is told of its preemption, and is not taken."""
    told = c.Announce(vm=anyone(chance), times=chance.choice((1, 2)))
    return [told, c.Pass(seconds=chance.choice((5, 60, 200))), *_sweeps(chance), p.Tick(minutes=10)]


def _regretted(chance: Random) -> list[c.Command]:
    """A job is lost, its owner removes what is left, asks for it again, and may think better of that."""
    fault, port = chance.choice((p.Fault.DENIED, p.Fault.BUSY)), p.Port.COMPUTE
    word = (
        p.Click(mail=chance.randrange(4), answer=p.Answer.RESTART, calls=0)
        if chance.random() < 0.4
        else p.Type(job=anyone(chance), spell=p.Spell.RESTART, calls=0)
    )
    after = chance.choice(
        (
            p.Type(job=anyone(chance), spell=p.Spell.STOP, calls=0),
            person(chance, p.Verb.DELETE, p.Verb.STOP),
            c.Pass(seconds=1),
        )
    )
    return [
        p.Outage(port=port, fault=fault, seconds=chance.choice((60, 600, 1200))),
        *_lost(chance),
        person(chance, p.Verb.DELETE, p.Verb.STOP),
        c.Pass(seconds=chance.choice((0, 5, 30))),
        word,
        c.Pass(seconds=chance.choice((5, 30, 90))),
        *_sweeps(chance),
        after,
        p.Tick(minutes=chance.choice((5, 20))),
    ]


def _lost(chance: Random) -> list[c.Command]:
    took: c.Command = c.Preempt(vm=anyone(chance), word=chance.choice(HURT))
    return [took, c.Pass(seconds=chance.choice((5, 35, 60))), *_sweeps(chance)]


def _after(name: str, chance: Random, without: Collection[str]) -> Iterator[c.Command]:
    if name in LONG and chance.random() < 0.8:
        yield p.Tick(minutes=chance.choice((15, 40, 70)))
        if chance.random() < 0.5:
            yield from _sweeps(chance)
            yield p.Tick(minutes=chance.choice((10, 30)))
        return
    yield c.Pass(seconds=chance.choice((0, 5, 20, 35, 40, 60, 60)))
    if name == "preempt" and chance.random() < 0.3 and "person late" not in without:
        yield BLOWS["person late"][1](chance)
    yield from _sweeps(chance)
    if chance.random() < 0.6:
        yield p.Tick(minutes=chance.choice((2, 5, 20)))


def _sweeps(chance: Random) -> Iterator[c.Command]:
    """One to three sweeps in turns, with time passing between them."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        yield _sweep(chance)
    for _ in range(chance.choice((0, 1, 2, 4))):
        yield chance.choices((_run, _pass, _sweep), (6, 4, 2))[0](chance)


def _sweep(chance: Random) -> c.Command:
    whole = chance.random() < 0.3
    about = None if chance.random() < 0.5 else anyone(chance)
    return p.Sweep(
        function=chance.choices(list(p.Function), (8, 3, 2, 2, 1, 3))[0],
        about=about,
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
    return c.Pass(seconds=chance.choice((1, 10, 30, 60, 130, 430)))
