"""Write `infra/price-list.json`: what VMs cost by the hour, as Google publishes it.

    python infra/pricing/write_prices.py --key API_KEY
    python infra/pricing/write_prices.py --token "$(gcloud auth print-access-token)"
    python infra/pricing/write_prices.py --stored initial-prices.json --date 2026-08-03 --source WHERE
    python infra/pricing/write_prices.py --vms vms.csv --date 2026-05-20 --source WHERE
    python infra/pricing/write_prices.py --instances pricing.yml --date 2026-07-30 --source WHERE
    python infra/pricing/write_prices.py --custom --source WHERE

The first two ask the price catalog of Cloud Billing for every SKU of Compute Engine. Its API has to be
enabled in the project of the key or token; the catalog itself is public and costs nothing. It prices vCPUs,
memory, GPUs and chips, and not machine types: those of the local cloud are known, all others come with
`--machine-types FILE`, which `gcloud compute machine-types list --format=json > FILE` has written. What could
not be priced is counted. What they write replaces the file.

The others take what somebody else has made of the catalog, where nobody can ask it, and add to the file; a
list of the same source is replaced. `--stored`: {"prices": {REGION: {"on_demand": {MACHINE: USD}, "spot":
{MACHINE: USD}}}}. `--vms`: a scheduler's table of VMs by zone, for GPUs that N1 takes, TPUs and A4 on spot.
`--instances`: a book of instances, for custom N1. `--custom`: custom types on demand, by what the first list
of the file says of predefined ones.
"""

import argparse
import csv
import json
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pricing import others
from pricing.lists import MachineTypes, known_types, machine_types, price_list, priced, render
from pricing.skus import unit_prices

LISTED = Path(__file__).resolve().parents[1] / "price-list.json"
CATALOG = "https://cloudbilling.googleapis.com"
COMPUTE_ENGINE = "services/6F81-5844-456A"
PAGE = 5000
TIMEOUT_SECONDS = 60
SOURCE = "Google Cloud Billing Catalog"
N1_PAIR, N1_PROOF = ("custom-1-7680-ext", "custom-2-10240-ext"), "custom-4-30720-ext"
"""Machines of a book of instances, which it prices without extended memory whatever their names say."""


def skus(endpoint: str, *, key: str = "", token: str = "") -> Iterator[Mapping[str, Any]]:
    """Every SKU of Compute Engine ("Method: services.skus.list")."""
    if not endpoint.startswith(("https://", "http://127.0.0.1:")):
        raise SystemExit(f"--endpoint: {endpoint} is not https")
    page = ""
    while True:
        query = {"currencyCode": "USD", "pageSize": str(PAGE), "key": key, "pageToken": page}
        asked = urllib.parse.urlencode({name: value for name, value in query.items() if value})
        request = urllib.request.Request(f"{endpoint}/v1/{COMPUTE_ENGINE}/skus?{asked}")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            found = json.load(answer)
        yield from found.get("skus", ())
        page = found.get("nextPageToken", "")
        if not page:
            return


def asked(endpoint: str, day: date, types: MachineTypes, *, key: str = "", token: str = "") -> dict[str, Any]:
    """The list that the catalog gives on this day; SystemExit where nothing in it could be read."""
    units = unit_prices(skus(endpoint, key=key, token=token))
    machines = priced(units, types)
    if not machines:
        raise SystemExit(
            "The catalog was read, and no machine in it has a price: its descriptions have changed"
        )
    without = sorted({machine.family for name, machine in types.items() if name not in machines})
    if without:
        print(f"machine types without a price: {', '.join(without)}", file=sys.stderr)
    return price_list(SOURCE, day, machines, units, types)


def read_types(file: Path | None) -> MachineTypes:
    """The machine types to price; SystemExit where the file is none of gcloud's."""
    if file is None:
        return known_types()
    try:
        return machine_types(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        how = "write it with: gcloud compute machine-types list --format=json"
        raise SystemExit(f"--machine-types: {file} cannot be read ({problem!r}); {how}") from problem


def stored(table: Mapping[str, Any], source: str, day: date) -> dict[str, Any]:
    """The list of a table that somebody has made of the catalog.

    A spot price that is the other is none: M2 machines have no spot price, and such tables repeat the other.
    """
    machines: dict[str, dict[str, tuple[float | None, ...]]] = {}
    for region, models in table["prices"].items():
        spot = models.get("spot", {})
        for machine, amount in models["on_demand"].items():
            known = spot.get(machine)
            cheaper = known if known is not None and known < amount else None
            machines.setdefault(machine, {})[region] = (amount, cheaper)
    return price_list(source, day, machines)


def added(said: argparse.Namespace, lists: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The list of what somebody else has made; `lists` are those of the file."""
    if said.custom:
        return others.at_premium(lists[0], said.source)
    if said.vms:
        with said.vms.open(encoding="utf-8", newline="") as rows:
            return others.of_vms(csv.DictReader(rows), said.source, said.date)
    if said.instances:
        import yaml

        read = yaml.load(said.instances.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        found = read["compute"]["instance"]
        return others.custom_n1(found, N1_PAIR, N1_PROOF, said.source, said.date)
    return stored(json.loads(said.stored.read_text(encoding="utf-8")), said.source, said.date)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--key", default="", help="API key of a project")
    parser.add_argument("--token", default="", help="access token")
    parser.add_argument("--machine-types", type=Path, help="what gcloud compute machine-types list has said")
    parser.add_argument("--stored", type=Path, help="a table of somebody else, instead of the catalog")
    parser.add_argument("--vms", type=Path, help="a table of VMs by zone, likewise")
    parser.add_argument("--instances", type=Path, help="a book of instances, likewise")
    parser.add_argument("--custom", action="store_true", help="custom types, by the file's first list")
    parser.add_argument("--date", type=date.fromisoformat, help="the day of that table")
    parser.add_argument("--source", default="", help="where that table is from, under which license")
    parser.add_argument("--endpoint", default=CATALOG, help="where the catalog is")
    parser.add_argument("--out", type=Path, default=LISTED)
    said = parser.parse_args()
    table = next((f"--{name}" for name in ("stored", "vms", "instances") if getattr(said, name)), "")
    if table or said.custom:
        if not (said.source and (said.date or said.custom)):
            parser.error(f"{table or '--custom'} needs {'--date and ' if table else ''}--source")
        lists = json.loads(said.out.read_text(encoding="utf-8")) if said.out.exists() else []
        made = added(said, lists)
        lists = [*(listed for listed in lists if listed["source"] != made["source"]), made]
    elif said.key or said.token:
        types, day = read_types(said.machine_types), datetime.now(UTC).date()
        lists = [made := asked(said.endpoint, day, types, key=said.key, token=said.token)]
    else:
        parser.error("give --key, --token, --stored, --vms, --instances or --custom")
    said.out.write_text(render(lists), encoding="utf-8")
    parts = ", ".join(f"{len(part)} {name}" for name, part in made.items() if isinstance(part, dict))
    print(f"{said.out}: {parts}")


if __name__ == "__main__":
    main()
