"""What a VM costs by the hour: a price with its date, or nothing. Nobody's price is never counted as none."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.placement import region_of
from spotwarden.model.prices import Price, PriceTable, Rate, VmKind
from spotwarden.recovery.kinds.price_list import gpu_rates, machine_rates


def kind_of_launch(launch: Launch, place: str, provisioning: str) -> VmKind:
    """What the price of one of a job's VMs depends on, as its request says."""
    body = launch.request.body
    properties: Mapping[str, Any] = body.get("instanceProperties", body)
    counts = [int(item.get("acceleratorCount", 0)) for item in properties.get("guestAccelerators", ())]
    return VmKind(
        machine_type=launch.machine,
        gpu=launch.accelerators[0] if launch.accelerators else "",
        gpus=sum(counts),
        region=region_of(place),
        provisioning=provisioning,
    )


def place_prices(launch: Launch, table: PriceTable) -> dict[str, dict[VmModel, float]]:
    """USD an hour of one of a job's VMs, by place and kind of VM, as far as it is known."""
    by_region: dict[str, dict[VmModel, float]] = {}
    for place in (choice.place for choice in launch.choices):
        if region_of(place) not in by_region:
            asked = {model: kind_of_launch(launch, place, model.google) for model in VmModel}
            known = {model: price_of(kind, table) for model, kind in asked.items()}
            by_region[region_of(place)] = {
                model: price.per_hour for model, price in known.items() if price is not None
            }
    return {choice.place: by_region[region_of(choice.place)] for choice in launch.choices}


def price_of(kind: VmKind, table: PriceTable) -> Price | None:
    """USD an hour of one VM; None where any part of it has no known price."""
    whole = _newest(table, kind, machine=kind.machine_type)
    if whole is None:
        return None
    rate, amount = whole
    beyond = kind.gpus - rate.gpus
    if beyond <= 0:
        return Price(per_hour=amount, date=rate.date)
    each = _newest(table, kind, gpu=kind.gpu)
    if each is None:
        return None
    return Price(per_hour=amount + beyond * each[1], date=min(rate.date, each[0].date))


def _newest(
    table: PriceTable, kind: VmKind, *, machine: str = "", gpu: str = ""
) -> tuple[Rate, float] | None:
    """The newest rate that says what this costs, provisioned as it is, and what it says."""
    wanted = (machine, gpu, kind.region)
    found = [
        (rate, said)
        for rate in (*table.rates, *_listed(table, machine=machine, gpu=gpu))
        if (rate.machine, rate.gpu, rate.region) == wanted and (said := _said(rate, kind)) is not None
    ]
    return max(found, key=lambda item: item[0].date) if found and (machine or gpu) else None


def _listed(table: PriceTable, *, machine: str, gpu: str) -> Iterator[Rate]:
    for prices in table.lists:
        yield from machine_rates(prices, machine) if machine else gpu_rates(prices, gpu)


def _said(rate: Rate, kind: VmKind) -> float | None:
    """The rate of a VM that is provisioned so; what reservations cost stands in no price list."""
    return {"STANDARD": rate.standard, "SPOT": rate.spot, "FLEX_START": rate.flex}.get(kind.provisioning)
