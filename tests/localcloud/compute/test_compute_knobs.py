"""The knobs over HTTP, fleets, partial answers, and the schema that all of it rests on."""

import json
from importlib.resources import files

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from localcloud.compute import schema
from localcloud.errors import ApiError
from localcloud.partial import read_mask, select
from tests.localcloud.compute.world import ZONE, World, request, spot
from tests.localcloud.compute.write_schema import DOCUMENT, derive, render


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("preempt", {}, 400, "Give either `node`, the name of an instance, or its `id`."),
        ("preempt", {"node": "a", "id": "1"}, 400, "Give either `node`"),
        ("preempt", {"node": "none"}, 404, "There is no instance 'none' in any zone."),
        ("preempt", {"name": "a"}, 400, "/local/preempt: Object contains unknown field `name`"),
        ("preempt", {"node": "a", "action": "PAUSE"}, 400, "Invalid enum value 'PAUSE'"),
        ("host-error", {"id": "4711"}, 404, "There is no instance '4711'"),
        ("stockout", {"zone": "moon"}, 400, "There is no zone 'moon'."),
        ("stockout", {"zone": ZONE, "machine": "m9"}, 400, f"There is no machine type 'm9' in {ZONE}."),
        ("stockout", {"zone": ZONE, "reason": "bad_luck"}, 400, "There is no reason 'bad_luck'"),
        ("stockout", {"zone": ZONE, "left": -1}, 400, "/local/stockout: Expected `int` >= 0"),
        ("stockout", {"machine": "n1-standard-1"}, 400, "missing required field `zone`"),
        ("quota", {"metric": "LUCK", "limit": 1}, 400, "There is no metric 'LUCK'; there are INSTANCES"),
        ("quota", {"metric": "CPUS", "region": "mars", "limit": 1}, 400, "There is no region 'mars'."),
        ("timings", {"boiling": 1}, 400, "There is no timing 'boiling'; there are accepting"),
        ("timings", {"staging": "long"}, 400, "The timing 'staging' is 'long'; give seconds"),
        ("timings", {"staging": -1}, 400, "give seconds from 0"),
        ("timings", {"staging": True}, 400, "give seconds"),
        ("unreachable", {"zone": "moon", "for_seconds": 1}, 400, "There is no zone 'moon'."),
        ("stale", {"seconds": "a while"}, 400, "/local/stale: Expected `float`"),
        ("fleet", {"count": 0}, 400, "Expected `int` >= 1"),
        ("fleet", {"count": 1, "zones": []}, 400, "Give at least one zone."),
        ("fleet", {"count": 1, "zones": ["moon"]}, 400, "Unknown zone."),
        ("fleet", {"count": 1, "machine_type": "m9"}, 400, "Machine type with name 'm9' does not exist"),
        ("images", {"name": "Bad"}, 400, "Must be a match of regex"),
        ("images", [], 400, "Expected `object`"),
    ],
)
def test_a_knob_turned_wrongly_says_so(world: World, path, body, status, message):
    """What, where, and what there is instead."""
    got = world.refused("POST", f"/local/{path}", body)
    assert got[0] == status
    assert message in got[2]


def test_a_stockout_that_is_not_there_cannot_be_ended(world: World):
    """A typing error would otherwise pass for success."""
    world.post("/local/stockout", {"zone": ZONE, "machine": "n1-standard-1"})
    body = {"zone": ZONE, "machine": "n1-standard-2"}
    assert world.refused("DELETE", "/local/stockout", body)[2].startswith(
        f"{ZONE} has not run out of n1-standard-2"
    )
    world.delete("/local/stockout", {"zone": ZONE})
    assert world.refused("DELETE", "/local/stockout", {"zone": ZONE})[0] == 404


def test_stockouts_in_force_are_shown(world: World):
    """With what they leave."""
    world.post("/local/stockout", {"zone": ZONE, "left": 3})
    (one,) = world.get("/local/stockout")["stockouts"]
    assert (one["zone"], one["machine"], one["left"]) == (ZONE, "", 3)


def test_timings_are_changed_at_run_time(world: World):
    """In seconds; those that are not named stay."""
    before = world.get("/local/timings")
    world.post("/local/timings", {"provisioning": 20, "staging": 40.5})
    assert world.get("/local/timings") == before | {"provisioning": 20, "staging": 40.5}
    world.post(f"zones/{ZONE}/instances", request())
    world.advance(20)
    assert world.status() == "PROVISIONING"
    world.advance(40)
    assert world.status() == "STAGING"
    world.advance(1)
    assert world.status() == "RUNNING"


def test_the_overview_counts_all_and_shows_some(world: World):
    """By status; at most a thousand, or as many as asked for."""
    world.create(scheduling=spot())
    world.post("/local/fleet", {"count": 5})
    answer = world.get("/local/instances", limit=2)
    assert (answer["count"], answer["by_status"], len(answer["instances"])) == (6, {"RUNNING": 6}, 2)
    assert answer["instances"][0] == {
        "name": "vm",
        "id": world.instance()["id"],
        "zone": ZONE,
        "machine_type": "n1-standard-1",
        "status": "RUNNING",
        "spot": True,
        "created": "2026-11-21T00:00:00.000-08:00",
    }
    assert world.refused("GET", "/local/instances", limit="all")[0] == 400


class TestFleet:
    """Instances with nothing behind them."""

    def test_they_look_like_instances(self, world: World):
        """With ids, names, addresses and disks of their own."""
        world.post("/local/fleet", {"count": 30, "labels": {"job": "a"}, "metadata": {"k": "v"}})
        items = world.get(f"zones/{ZONE}/instances")["items"]
        assert {one["labels"]["job"] for one in items} == {"a"}
        assert {one["metadata"]["items"][0]["value"] for one in items} == {"v"}
        whole = [
            one
            for zone in world.get("aggregated/instances")["items"].values()
            for one in zone.get("instances", ())
        ]
        for own in ("id", "name", "selfLink"):
            assert len({one[own] for one in whole}) == 30
        assert len({one["networkInterfaces"][0]["networkIP"] for one in whole}) == 30
        assert all(one["disks"][0]["source"].endswith(f"/disks/{one['name']}") for one in whole)

    def test_they_can_be_stopped_preempted_and_deleted(self, world: World):
        """No machine is asked for any of it."""
        world.post("/local/fleet", {"count": 3, "zones": [ZONE]})
        for name, status in (("idle-1", "TERMINATED"), ("idle-2", "GONE"), ("idle-3", "GONE")):
            if name == "idle-1":
                world.post(f"zones/{ZONE}/instances/{name}/stop")
            elif name == "idle-2":
                world.delete(f"zones/{ZONE}/instances/{name}")
            else:
                world.post("/local/preempt", {"node": name})
            world.advance(1)
            assert world.status(name) == status
        assert world.machines.did == []

    def test_they_go_all_at_once_and_leave_others(self, world: World):
        """And their names are free."""
        world.create()
        world.post("/local/fleet", {"count": 50})
        assert world.delete("/local/fleet") == {"deleted": 50}
        assert world.get("/local/instances")["count"] == 1
        world.post("/local/fleet", {"count": 50})

    def test_a_taken_name_leaves_everything_as_it_was(self, world: World):
        """All or nothing."""
        world.create("idle-3")
        assert world.refused("POST", "/local/fleet", {"count": 5, "zones": [ZONE]})[0] == 409
        assert world.get("/local/instances")["count"] == 1


class TestPartialAnswers:
    """The `fields` parameter."""

    def test_only_what_is_asked_for_is_given(self, world: World):
        """As the product asks for lists."""
        world.create(labels={"job": "a"})
        fields = "items/*/instances(name,labels/job,scheduling(preemptible)),items/*/warning,nextPageToken"
        answer = world.get("aggregated/instances", fields=fields)
        assert set(answer) == {"items"}
        assert answer["items"][f"zones/{ZONE}"] == {
            "instances": [{"name": "vm", "labels": {"job": "a"}, "scheduling": {"preemptible": False}}]
        }
        assert set(answer["items"]["zones/us-east1-b"]) == {"warning"}
        assert world.get(f"zones/{ZONE}/instances/vm", fields="name") == {"name": "vm"}

    def test_a_dot_is_a_slash_and_zones_are_every_zone(self, world: World):
        """As slurm-gcp asks for lists; of zones in which nothing is wanted nothing is said."""
        world.create(labels={"job": "a"})
        for fields in ("items.zones.instances(name,labels.job)", "items/zones/instances(name,labels/job)"):
            assert world.get("aggregated/instances", fields=fields) == {
                "items": {f"zones/{ZONE}": {"instances": [{"name": "vm", "labels": {"job": "a"}}]}}
            }
        assert world.get("aggregated/instances", fields="items.regions.instances(name)") == {}
        assert world.get(f"zones/{ZONE}/instances", fields="items(description)") == {"items": [{}]}

    def test_a_repeated_request_may_ask_for_other_fields(self, world: World):
        """They are no part of what the request id stands for."""
        key = "6f3c1a5e-0b7e-4c55-9d0e-6a5a3c1e9f10"
        path = f"zones/{ZONE}/instances"
        whole = world.post(path, request(), requestId=key)
        assert world.post(path, request(), requestId=key, fields="name") == {"name": whole["name"]}

    @pytest.mark.parametrize(
        "text", ["", "a,", "a(b", "a)b", "/a", "a/", "a((b))", "a b", "a,,b", "()", "a;b"]
    )
    def test_what_is_no_selection_is_refused(self, world: World, text):
        """As the front end words it."""
        status, reason, message = world.refused("GET", "zones", fields=text)
        assert (status, reason) == (400, "invalidParameter")
        assert message == f"Invalid field selection {text}"

    @pytest.mark.parametrize(
        ("mask", "expected"),
        [
            ("a", {"a": {"b": 1, "c": 2}}),
            ("a/b", {"a": {"b": 1}}),
            ("a(b,c)", {"a": {"b": 1, "c": 2}}),
            ("a,a/b", {"a": {"b": 1, "c": 2}}),
            ("a/b,a/c", {"a": {"b": 1, "c": 2}}),
            ("l/x", {"l": [{"x": 1}, {"x": 2}]}),
            ("*/b", {"a": {"b": 1}, "l": [{}, {}]}),
            ("none", {}),
            ("e", {"e": {}}),
            ("*", {"a": {"b": 1, "c": 2}, "l": [{"x": 1}, {"x": 2}], "e": {}}),
        ],
    )
    def test_a_mask_selects(self, mask, expected):
        """Nested, in lists, with a wildcard."""
        value = {"a": {"b": 1, "c": 2}, "l": [{"x": 1}, {"x": 2}], "e": {}}
        assert select(value, read_mask(mask)) == expected

    @given(st.text("ab/(),* ", max_size=30))
    @example("a(" * 500)
    @example("a/" * 5000 + "a")
    def test_a_mask_is_understood_or_refused(self, text):
        """And never fails otherwise."""
        try:
            mask = read_mask(text)
        except ApiError as error:
            assert error.status == 400
        else:
            select({"a": {"b": [1]}}, mask)


def test_the_schema_is_the_one_of_googles_document():
    """Derived anew it is the same; `write_schema.py` brings it up to date."""
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    stored = files("localcloud.compute").joinpath("schema.json").read_text(encoding="utf-8")
    assert stored == render(derive(document))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "disks", "labels", "scheduling", "maxRunDuration", "seconds", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(st.sampled_from(["name", "disks", "labels", "scheduling", "id", "x"]), JSON, max_size=4)
)
def test_any_body_is_read_or_refused(body):
    """What is read is in normal form: reading it again changes nothing."""
    try:
        normal = schema.read("Instance", body)
    except ApiError as error:
        assert (error.status, error.reason) == (400, "badRequest")
    else:
        assert schema.read("Instance", normal) == normal
