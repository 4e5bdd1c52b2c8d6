"""Draw histories in which people act while functions sleep in the middle of a sweep.

Each is short: a job or two, a blow, a sweep that is cut off, a person's deed, and the rest of the sweep.
"""

from collections.abc import Iterator
from random import Random

from tests.simulation import commands as c
from tests.simulation.draw import HURT, LIES
from tests.simulation.plane import commands as p
from tests.simulation.plane.draw import BLOWS, KINDS, anyone, launched, person

TROUBLES = ("lag", "outage", "hide", "hide log", "stockout", "forbid")
"""What may make a sweep wait, or see too little, from the beginning on."""
LONG = (15, 40, 70)
"""How many minutes governance takes for what a program does, or no longer does."""
CUT = (c.Then.PAUSE, c.Then.PAUSE, c.Then.PAUSE, c.Then.KILL_AFTER, c.Then.LOST_AFTER)
TYPED = (0.6, (c.Then.PAUSE, c.Then.KILL_AFTER))
CLICKED = (0.7, (c.Then.PAUSE, c.Then.KILL_AFTER))
"""How often a command, or a click, comes to its end, and what else may become of it."""


def hunt(seed: str) -> list[c.Command]:
    """The hunt of this seed; always the same."""
    chance = Random(f"hunt{seed}")
    drawn: list[c.Command] = [launched(chance, KINDS) for _ in range(chance.choice((1, 1, 2)))]
    drawn.append(p.Tick(minutes=chance.choice((2, 12, 20))))
    if chance.random() < 0.3:
        drawn.append(BLOWS[chance.choice(TROUBLES)][1](chance))
    for _ in range(chance.choice((1, 2, 3))):
        drawn.extend(_round(chance))
    return drawn


def _round(chance: Random) -> Iterator[c.Command]:
    """Something befalls a job, a sweep sleeps, a person acts, and the sweep goes on."""
    struck = _struck(chance)
    yield struck
    if isinstance(struck, p.Behave | p.End):
        yield p.Tick(minutes=chance.choice(LONG))
    yield c.Pass(seconds=chance.choice((0, 5, 35, 60)))
    for _ in range(chance.choice((1, 1, 2))):
        yield _asleep(chance)
    yield _deed(chance)
    yield c.Pass(seconds=chance.choice((0, 1, 5, 30, 130)))
    if chance.random() < 0.5:
        yield c.Run(
            sweep=chance.randrange(3),
            calls=chance.randint(1, 8),
            changes=chance.random() < 0.6,
            then=chance.choice((c.Then.PAUSE, c.Then.GO_ON)),
        )
    if chance.random() < 0.5:
        yield _deed(chance)
        yield c.Pass(seconds=chance.choice((0, 5, 40)))
    yield c.Run(sweep=chance.randrange(3))
    if chance.random() < 0.6:
        yield p.Tick(minutes=chance.choice((2, 5, 20)))


def _struck(chance: Random) -> c.Command:
    match chance.randrange(7):
        case 0 | 1:
            return c.Preempt(vm=anyone(chance), word=chance.choice(HURT))
        case 2:
            return c.FailHost(vm=anyone(chance))
        case 3:
            return p.End(job=anyone(chance), leave=chance.random() < 0.4)
        case 4:
            return p.Behave(vm=anyone(chance), mood=chance.choice(list(p.Mood)), whole=True)
        case 5:
            return p.Collapse(job=anyone(chance), word=chance.choice(LIES))
    return _deed(chance)


def _deed(chance: Random) -> c.Command:
    """What a person does: with gcloud, with a command, or with a link in a mail."""
    deed = chance.randrange(12)
    if deed < 4:
        return person(chance, p.Verb.DELETE, p.Verb.STOP, whole=chance.random() < 0.5)
    if deed < 7:
        return person(chance, p.Verb.START, whole=chance.random() < 0.6)
    if deed < 8:
        return p.Gcloud(vm=anyone(chance), whole=True, late=True, word=chance.choice(LIES))
    if deed < 10:
        return p.Type(
            job=anyone(chance),
            spell=chance.choice(list(p.Spell)),
            calls=chance.randint(1, 9),
            changes=chance.random() < 0.5,
            then=_comes_to(chance, *TYPED),
        )
    return p.Click(
        mail=chance.randrange(4),
        answer=chance.choice(list(p.Answer)),
        calls=chance.randint(1, 6),
        then=_comes_to(chance, *CLICKED),
    )


def _comes_to(chance: Random, whole: float, fates: tuple[c.Then, ...]) -> c.Then:
    return c.Then.GO_ON if chance.random() < whole else chance.choice(fates)


def _asleep(chance: Random) -> p.Sweep:
    """A sweep that waits, or dies, between two of its calls."""
    return p.Sweep(
        function=chance.choices(list(p.Function), (8, 3, 2, 2, 1, 2))[0],
        about=None if chance.random() < 0.6 else anyone(chance),
        skew=chance.choice((0, 0, 0, 20, -20, 60)),
        calls=chance.randint(1, 14),
        changes=chance.random() < 0.6,
        then=chance.choice(CUT),
    )
