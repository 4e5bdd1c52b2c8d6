"""The price file → the rates in it; one that cannot be read is no reason to do nothing else."""

import tomllib
from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.model.prices import PriceTable, Rate

USD = Annotated[float, msgspec.Meta(ge=0)]


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a sheet."""

    machine: str = ""
    gpu: str = ""
    gpus: int = 0
    region: str
    standard: USD | None = None
    spot: USD | None = None


class _Sheet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows that were read on one day from one source."""

    date: date
    source: str
    rows: tuple[_Row, ...]


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sheet: tuple[_Sheet, ...]


typed.prepare(_File)


def read_prices(file: Path) -> PriceTable:
    """Every rate of `prices.toml`; where it cannot be read, none, and why."""
    try:
        read = typed.convert(tomllib.loads(file.read_text(encoding="utf-8")), _File)
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as problem:
        return PriceTable(problem=f"{file.name} cannot be read: {problem}")
    return PriceTable(rates=tuple(_rate(sheet, row) for sheet in read.sheet for row in sheet.rows))


def _rate(sheet: _Sheet, row: _Row) -> Rate:
    return Rate(date=sheet.date, source=sheet.source, **msgspec.structs.asdict(row))


def only(table: PriceTable, machine_types: Collection[str], gpus: Collection[str]) -> PriceTable:
    """The rates of these machine types and GPUs: what a sweep keeps of its facts is no copy of the file."""
    return replace(
        table,
        rates=tuple(
            rate for rate in table.rates if rate.machine in machine_types or (rate.gpu and rate.gpu in gpus)
        ),
    )
