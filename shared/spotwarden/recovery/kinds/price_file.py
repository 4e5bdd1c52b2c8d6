"""The price files → the rates in them; one that cannot be read is no reason to do nothing else.

`prices.toml` is for people. What a program has read from a source lies beside it as `price-list.json`, which
is a hundred times as much and is read as fast.
"""

import tomllib
from collections.abc import Collection, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of
from spotwarden.model.prices import Amounts, PriceList, PriceTable, Rate
from spotwarden.recovery.kinds.machines import launches
from spotwarden.recovery.kinds.price_limits import needs_prices
from spotwarden.recovery.kinds.price_list import gpu_rates, machine_rates
from spotwarden.recovery.kinds.prices import place_prices

USD = Annotated[float, msgspec.Meta(ge=0)]


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a sheet: of a machine type, a GPU, or one vCPU or GiB of a custom type."""

    machine: str = ""
    gpu: str = ""
    core: str = ""
    memory: str = ""
    gpus: int = 0
    region: str
    standard: USD | None = None
    spot: USD | None = None
    flex: USD | None = None


class _Sheet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows that were read on one day from one source."""

    date: date
    source: str
    rows: tuple[_Row, ...]


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sheet: tuple[_Sheet, ...]


LISTED = "price-list.json"

typed.prepare(_File, tuple[PriceList, ...])


def read_prices(file: Path) -> PriceTable:
    """Every rate of `prices.toml`; where it cannot be read, none, and why."""
    try:
        read = typed.convert(tomllib.loads(file.read_text(encoding="utf-8")), _File)
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as problem:
        return PriceTable(problem=f"{file.name} cannot be read: {problem}")
    beside = file.with_name(LISTED)
    try:
        lists = read_lists(beside.read_bytes()) if beside.exists() else ()
    except (OSError, msgspec.MsgspecError) as problem:
        return PriceTable(problem=f"{beside.name} cannot be read: {problem}")
    return PriceTable(
        rates=tuple(
            _rate(sheet, row) for sheet in read.sheet for row in sheet.rows if row.machine or row.gpu
        ),
        lists=(*(_custom(sheet) for sheet in read.sheet), *lists),
    )


@lru_cache(maxsize=1)
def kept_prices(file: Path) -> PriceTable:
    """As `read_prices`, once: the files of a deployment do not change while a process lives."""
    return read_prices(file)


def _custom(sheet: _Sheet) -> PriceList:
    """What a sheet says of custom types."""
    cores: dict[str, dict[str, Amounts]] = {}
    memory: dict[str, dict[str, Amounts]] = {}
    for row in sheet.rows:
        for name, rates in ((row.core, cores), (row.memory, memory)):
            if name:
                rates.setdefault(name, {})[row.region] = (row.standard, row.spot, row.flex)
    return PriceList(date=sheet.date, source=sheet.source, cores=cores, memory=memory)


def read_lists(data: bytes) -> tuple[PriceList, ...]:
    """The lists of a `price-list.json`; `msgspec.MsgspecError` where it is none."""
    return typed.decode(data, tuple[PriceList, ...])


def _rate(sheet: _Sheet, row: _Row) -> Rate:
    return Rate(
        date=sheet.date,
        source=sheet.source,
        machine=row.machine,
        gpu=row.gpu,
        gpus=row.gpus,
        region=row.region,
        standard=row.standard,
        spot=row.spot,
        flex=row.flex,
    )


def only(table: PriceTable, machine_types: Collection[str], gpus: Collection[str]) -> PriceTable:
    """The rates of these machine types and GPUs: what a sweep keeps of its facts is no copy of the files."""
    machines, cards = sorted({*machine_types} - {""}), sorted({*gpus} - {""})
    listed = (
        rate
        for prices in table.lists
        for rates in (
            *(machine_rates(prices, machine) for machine in machines),
            *(gpu_rates(prices, gpu) for gpu in cards),
        )
        for rate in rates
    )
    written = (rate for rate in table.rates if rate.machine in machines or rate.gpu in cards)
    return replace(table, rates=(*written, *listed), lists=())


def of_launches(table: PriceTable, facts: JobFacts) -> PriceTable:
    """The rates of all machine types and GPUs that a job may be launched on."""
    machines = {launch.machine for launch in launches(facts)}
    return only(table, machines, {card for launch in launches(facts) for card in launch.accelerators})


def with_prices(facts: JobFacts, file: Path, limits: PlacementLimits) -> JobFacts:
    """The facts with what the job's VMs cost in each place, on each machine type.

    In one region all cost the same: there it matters for a job that may go from on-demand back to spot, and
    where prices are compared with others than those of places.
    """
    return _priced(facts, file, everywhere=facts.may_move or needs_prices(facts, limits))


def with_all_prices(facts: JobFacts, file: Path) -> JobFacts:
    """The facts with all that is known of what the job's VMs cost."""
    return _priced(facts, file, everywhere=True)


def _priced(facts: JobFacts, file: Path, *, everywhere: bool) -> JobFacts:
    if not isinstance(facts.launch, Launch):
        return facts
    others = {other.machine: _prices(other, file, everywhere=everywhere) for other in facts.launch.instead}
    prices = _prices(facts.launch, file, everywhere=everywhere)
    return replace(facts, prices=prices, other_prices=others)


def _prices(launch: Launch, file: Path, *, everywhere: bool) -> Mapping[str, Mapping[VmModel, float]]:
    """By place and kind of VM; where all places are of one region nobody need know, but for `everywhere`."""
    if len({region_of(choice.place) for choice in launch.choices}) == 1 and not everywhere:
        return {}
    return place_prices(launch, only(kept_prices(file), {launch.machine}, launch.accelerators))
