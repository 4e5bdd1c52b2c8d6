"""What can happen to a message on its way to a subscription: doubled, late, overtaken, lost."""

import random
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

Chance = Annotated[float, msgspec.Meta(ge=0, le=1)]


class PubSubFault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What befalls messages of `topic`, a full or short name; empty means every topic without its own rule.

    Drawn from `seed` for every message and subscription: `double` delivers twice, `drop` never, `reorder`
    holds back for up to `reorder_seconds`, so that later ones overtake. All are late by `delay_seconds`.
    """

    topic: str = ""
    double: Chance = 0.0
    drop: Chance = 0.0
    reorder: Chance = 0.0
    reorder_seconds: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    delay_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    seed: int = 0


class FaultInjection:
    """The rules in force, each with its own dice.

    Where none holds, the usual one befalls what is pushed; `clear` leaves that in force.
    """

    def __init__(self) -> None:
        self._rules: dict[str, tuple[PubSubFault, random.Random]] = {}
        self._usual: tuple[PubSubFault, random.Random] | None = None
        self._spared = ""

    def set_usual(self, rule: PubSubFault, spared: str) -> None:
        """Put the usual rule in force for all topics; endpoints that end so are spared."""
        self._usual, self._spared = (rule, random.Random(rule.seed)), spared

    @property
    def usual_delay(self) -> float:
        """The most seconds by which the usual rule holds a message back."""
        return self._usual[0].reorder_seconds if self._usual and self._usual[0].reorder else 0.0

    def set(self, rule: PubSubFault, topic: str) -> None:
        """Put a rule in force in place of the one that this topic had; `topic` is its full name, or empty."""
        self._rules[topic] = (rule, random.Random(rule.seed))

    def clear(self) -> None:
        """Let every message pass untouched from now on."""
        self._rules.clear()

    def rules(self) -> Mapping[str, Any]:
        """The rules in force by topic."""
        return {topic: msgspec.to_builtins(rule) for topic, (rule, _) in self._rules.items()}

    def delays(self, topic: str, endpoint: str = "") -> list[float]:
        """The seconds after which one message arrives at one subscription, once per copy; empty when lost.

        `endpoint` is where it is pushed, "" where it is pulled.
        """
        found = self._rules.get(topic) or self._rules.get("") or self._usual_at(endpoint)
        if found is None:
            return [0.0]
        rule, dice = found
        if dice.random() < rule.drop:
            return []
        copies = 2 if dice.random() < rule.double else 1
        return [_delay(rule, dice) for _ in range(copies)]

    def _usual_at(self, endpoint: str) -> tuple[PubSubFault, random.Random] | None:
        spared = not endpoint or (self._spared and endpoint.endswith(self._spared))
        return None if spared else self._usual


def _delay(rule: PubSubFault, dice: random.Random) -> float:
    held_back = dice.uniform(0, rule.reorder_seconds) if dice.random() < rule.reorder else 0.0
    return rule.delay_seconds + held_back
