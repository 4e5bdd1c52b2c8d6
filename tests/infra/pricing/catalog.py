"""SKUs as the price catalog of Cloud Billing has them; descriptions and units are those of real ones."""

from typing import Any

AMERICAS = ("us-central1", "us-east1")


def sku(
    description: str, usd: float, *, unit: str = "h", regions: tuple[str, ...] = AMERICAS
) -> dict[str, Any]:
    """One SKU with one tier; money is whole units as text, and billionths."""
    nanos = round(usd * 10**9)
    price = {"currencyCode": "USD", "units": str(nanos // 10**9), "nanos": nanos % 10**9}
    expression = {
        "usageUnit": unit,
        "displayQuantity": 1,
        "tieredRates": [{"startUsageAmount": 0, "unitPrice": price}],
    }
    return {
        "name": "services/6F81-5844-456A/skus/0000-0000-0000",
        "description": description,
        "category": {"resourceFamily": "Compute"},
        "serviceRegions": list(regions),
        "pricingInfo": [{"summary": "", "pricingExpression": expression}],
        "serviceProviderName": "Google",
    }


def ram(description: str, usd: float, **how: Any) -> dict[str, Any]:
    """One SKU of memory."""
    return sku(description, usd, unit="GiBy.h", **how)


SKUS = [
    sku("N2 Instance Core running in Americas", 0.031611),
    ram("N2 Instance Ram running in Americas", 0.004237),
    sku("Spot Preemptible N2 Instance Core running in Americas", 0.01),
    ram("Spot Preemptible N2 Instance Ram running in Americas", 0.001),
    sku("N1 Predefined Instance Core running in Americas", 0.031611),
    ram("N1 Predefined Instance Ram running in Americas", 0.004237),
    sku("Custom Instance Core running in Americas", 0.033174),
    ram("Custom Instance Ram running in Americas", 0.004446),
    sku("Nvidia Tesla T4 GPU running in Americas", 0.35),
    sku("Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Americas", 0.209),
    sku("Nvidia Tesla V100 GPU running in Americas", 2.48),
    sku("A2 Instance Core running in Americas", 0.031611),
    ram("A2 Instance Ram running in Americas", 0.004237),
    sku("Nvidia Tesla A100 GPU running in Americas", 2.933908),
    sku("Nvidia Tesla A100 80GB GPU running in Americas", 3.92808),
    sku("DWS Defined Duration A2 Core running in Americas", 0.0158),
    ram("DWS Defined Duration A2 Ram running in Americas", 0.0021),
    sku("Nvidia Tesla A100 GPU attached to DWS Defined Duration VMs running in Americas", 1.5),
    sku("TpuV6e running in Columbus", 2.70, regions=("us-east5",)),
    sku("DWS Defined Duration V6e running in Columbus", 1.35, regions=("us-east5",)),
    sku("TpuV6e attached to Spot Preemptible VMs running in Columbus", 1.4033, regions=("us-east5",)),
]
NO_PRICES = [
    sku("Commitment v1: Nvidia Tesla T4 GPU running in Americas for 1 Year", 0.22),
    sku("Reserved Nvidia Tesla A100 80GB GPU in Virginia", 0.0),
    sku("Capacity Optimized TpuV6e running in Columbus", 2.70, regions=("us-east5",)),
    sku("Reserved V6e TPU in Columbus in Calendar Mode", 1.89, regions=("us-east5",)),
    sku("N2 Sole Tenancy Instance Core running in Americas", 0.04),
    ram("N2 Custom Extended Instance Ram running in Americas", 0.01),
    sku("Sole Tenancy Premium for N2 Sole Tenancy Instance Core running in Americas", 0.1),
    sku("Network Vpn Internet Egress from Americas to Africa", 0.12, unit="GiBy"),
]
