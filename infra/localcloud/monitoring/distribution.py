"""Distributions: `google.api.Distribution` values, merged and read as percentiles."""

from collections.abc import Sequence

from google.api import distribution_pb2

from localcloud.rpc import Raw, RpcError


def merged(distributions: Sequence[Raw]) -> Raw:
    """The distribution of all their values together.

    Raises:
        RpcError: INVALID_ARGUMENT when their buckets differ.
    """
    total = distribution_pb2.Distribution()
    total.CopyFrom(distributions[0])
    for other in distributions[1:]:
        _add(total, other)
    return total


def _add(total: Raw, other: Raw) -> None:
    if total.bucket_options != other.bucket_options:
        text = "Distributions with different bucket options cannot be combined."
        raise RpcError("INVALID_ARGUMENT", text)
    count = total.count + other.count
    if other.count:
        # Chan's formula for the mean and the squared deviation of two samples taken together.
        gap = other.mean - total.mean
        total.sum_of_squared_deviation += (
            other.sum_of_squared_deviation + gap * gap * total.count * other.count / count
        )
        total.mean += gap * other.count / count
    total.count = count
    longest = max(len(total.bucket_counts), len(other.bucket_counts))
    sums = [sum(pair) for pair in zip(_padded(total, longest), _padded(other, longest), strict=True)]
    del total.bucket_counts[:]
    total.bucket_counts.extend(sums)


def _padded(distribution: Raw, length: int) -> list[int]:
    counts = list(distribution.bucket_counts)
    return counts + [0] * (length - len(counts))


def percentile(distribution: Raw, percent: float) -> float | None:
    """The value below which so many percent of the values lie; None when there are none.

    Values count as evenly spread inside each bucket, and as the outermost bound beyond it.
    """
    wanted = distribution.count * percent / 100
    edges = bounds(distribution.bucket_options)
    if not distribution.count or not edges:
        return None
    seen = 0
    for number, count in enumerate(distribution.bucket_counts):
        if count and seen + count >= wanted:
            low, high = edges[max(number - 1, 0)], edges[min(number, len(edges) - 1)]
            return float(low + (high - low) * max(0.0, wanted - seen) / count)
        seen += count
    return float(edges[-1])


def bounds(options: Raw) -> list[float]:
    """The bounds between buckets; the first bucket lies below the first bound, the last above the last."""
    match options.WhichOneof("options"):
        case "linear_buckets":
            linear = options.linear_buckets
            return [linear.offset + linear.width * number for number in range(linear.num_finite_buckets + 1)]
        case "exponential_buckets":
            growing = options.exponential_buckets
            return [
                growing.scale * growing.growth_factor**number
                for number in range(growing.num_finite_buckets + 1)
            ]
        case "explicit_buckets":
            return list(options.explicit_buckets.bounds)
        case _:
            return []
