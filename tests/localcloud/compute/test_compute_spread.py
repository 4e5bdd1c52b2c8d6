"""Where the instances of a bulk request go, and how they are called."""

from hypothesis import given
from hypothesis import strategies as st

from localcloud.compute.bulk.plan import Plan, numbered, spread


def plan(count: int, shape: str, most=()) -> Plan:
    """A plan as far as its spread goes."""
    return Plan(
        count=count,
        least=1,
        pattern="",
        names=[],
        each={},
        properties={},
        shape=shape,
        denied=[],
        most=dict(most),
    )


@given(
    st.integers(1, 20),
    st.sampled_from(["ANY", "BALANCED", "ANY_SINGLE_ZONE"]),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 8)),
)
def test_a_spread_is_of_the_right_size_and_within_the_stock_where_that_suffices(count, shape, stock):
    """Whatever the zones have left."""
    zones = ["a", "b", "c"]
    chosen = spread(plan(count, shape), zones, stock.get)
    assert len(chosen) == count
    assert set(chosen) <= set(zones)
    rooms = {zone: min(count, stock.get(zone, count)) for zone in zones}
    if shape == "ANY_SINGLE_ZONE":
        assert len(set(chosen)) == 1
        assert rooms[chosen[0]] == count or max(rooms.values()) < count
    elif sum(rooms.values()) >= count:
        assert all(chosen.count(zone) <= rooms[zone] for zone in zones)
    if shape == "BALANCED" and not stock:
        numbers = [chosen.count(zone) for zone in zones]
        assert max(numbers) - min(numbers) <= 1


@given(st.integers(1, 30), st.integers(1, 4), st.sets(st.integers(1, 2000)))
def test_numbers_never_meet_taken_ones(count, hashes, used):
    """And follow each other."""
    taken = {f"w-{number:0{hashes}}-x" for number in used}
    names = numbered(f"w-{'#' * hashes}-x", count, taken)
    assert len(set(names)) == count
    assert not set(names) & taken
