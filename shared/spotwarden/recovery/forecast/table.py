"""The table of places that comes with the package, and what a forecast draws its chances from."""

from functools import cache
from pathlib import Path
from random import Random

from spotwarden import typed
from spotwarden.recovery.forecast.markets import SeenMarkets
from spotwarden.recovery.forecast.simulate import Chance

FILE = Path(__file__).with_name("markets.json")

typed.prepare(SeenMarkets)


@cache
def read_markets() -> SeenMarkets:
    """What is known of places."""
    return typed.decode(FILE.read_bytes(), SeenMarkets)


def chance_of(job: str) -> Chance:
    """The same chances for the same job: a forecast that is read twice says the same."""
    return Random(job)
