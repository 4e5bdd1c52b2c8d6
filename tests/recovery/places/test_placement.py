"""The order of places, what is learned of them, and when spot has had its chance."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import PlaceEvent, PlacementRecord, PlaceNews, ZoneAvailability
from spotwarden.recovery.kinds.bounds import remaining_work
from spotwarden.recovery.places.placement import (
    TROUBLE_AT_MOST,
    jitter,
    learn,
    order,
    spot_until,
    trouble,
    why_on_demand,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
HOME, NEXT, FAR = PLACES = ("us-central1-a", "us-central1-b", "us-east4-a")
LIMITS = PlacementLimits(
    block=10 * MINUTE,
    fragile=60 * MINUTE,
    half_life=60 * MINUTE,
    restart_cost=10 * MINUTE,
    deadline_restarts=2.0,
    on_demand_after=None,
)
EMPTY = PlacementRecord(machine="a3-highgpu-8g")


def news(event, place=HOME, ago=timedelta()):
    """What a place did, so long ago."""
    return PlaceNews(place=place, event=event, at=NOW - ago)


def knowing(*what):
    """A record that has learned this."""
    return learn(EMPTY, what, LIMITS)


def ordered(record, now=NOW):
    """The order of the three places."""
    return order(PLACES, record, now, LIMITS)


# --- learning ---


def test_a_stockout_is_remembered_with_its_moment():
    """It counts one trouble and is the newest of its kind."""
    availability = knowing(news(PlaceEvent.STOCKOUT)).availability[HOME]
    assert availability == ZoneAvailability(trouble=1.0, at=NOW, out=NOW)


def test_a_preemption_is_remembered_apart_from_a_stockout():
    """They count alike, but only a stockout blocks."""
    availability = knowing(news(PlaceEvent.PREEMPTED)).availability[HOME]
    assert availability == ZoneAvailability(trouble=1.0, at=NOW, taken=NOW)


def test_a_success_is_no_trouble():
    """Only its moment is kept."""
    assert knowing(news(PlaceEvent.GAVE)).availability[HOME] == ZoneAvailability(given=NOW)


def test_an_older_success_does_not_replace_a_newer_one():
    """News may come in any order."""
    record = learn(knowing(news(PlaceEvent.GAVE)), [news(PlaceEvent.GAVE, ago=MINUTE)], LIMITS)
    assert record.availability[HOME].given == NOW


@pytest.mark.parametrize("event", PlaceEvent)
def test_the_same_news_twice_counts_once(event):
    """Sweeps tell again what they have told before."""
    once = knowing(news(event))
    assert learn(once, [news(event)], LIMITS) == once


@pytest.mark.parametrize("event", [PlaceEvent.STOCKOUT, PlaceEvent.PREEMPTED])
def test_news_newer_by_a_second_counts_again(event):
    """The other side of the limit."""
    record = knowing(news(event, ago=SECOND), news(event))
    assert record.availability[HOME].trouble == pytest.approx(2.0, abs=0.001)


def test_trouble_of_another_kind_counts_though_it_is_older():
    """A late preemption notice does not get lost behind a stockout; it has faded by its age."""
    record = learn(knowing(news(PlaceEvent.STOCKOUT)), [news(PlaceEvent.PREEMPTED, ago=60 * MINUTE)], LIMITS)
    assert record.availability[HOME].trouble == pytest.approx(1.5)
    assert record.availability[HOME].at == NOW


def test_what_is_remembered_has_faded_when_the_next_thing_happens():
    """Two preemptions an hour apart weigh one and a half at the second."""
    record = knowing(news(PlaceEvent.PREEMPTED, ago=60 * MINUTE), news(PlaceEvent.PREEMPTED))
    assert record.availability[HOME].trouble == pytest.approx(1.5)


def test_a_storm_is_one_bad_hour():
    """However many VMs it takes, the count stops where it can be forgotten within a few half-lives."""
    record = knowing(*(news(PlaceEvent.PREEMPTED, ago=k * SECOND) for k in range(1000)))
    assert record.availability[HOME].trouble == TROUBLE_AT_MOST


def test_places_and_what_else_is_recorded_stay_as_they_are():
    """Learning of one place touches no other, nor what is offered."""
    before = PlacementRecord(
        machine="m", offered=PLACES, offered_at=NOW, availability={FAR: ZoneAvailability(given=NOW)}
    )
    after = learn(before, [news(PlaceEvent.STOCKOUT)], LIMITS)
    assert (after.machine, after.offered, after.offered_at) == ("m", PLACES, NOW)
    assert after.availability[FAR] == ZoneAvailability(given=NOW)


def test_trouble_halves_every_half_life():
    """A count of one is a half after an hour, a quarter after two."""
    availability = knowing(news(PlaceEvent.STOCKOUT)).availability[HOME]
    assert [trouble(availability, NOW + k * LIMITS.half_life, LIMITS) for k in (0, 1, 2)] == [1.0, 0.5, 0.25]


def test_without_a_half_life_trouble_is_forgotten_at_once():
    """A limit of zero is allowed and divides nothing."""
    forgetful = PlacementLimits(half_life=timedelta())
    assert (
        trouble(learn(EMPTY, [news(PlaceEvent.STOCKOUT)], forgetful).availability[HOME], NOW, forgetful)
        == 0.0
    )


# --- the order ---


def test_without_news_the_order_is_the_given_one():
    """Home first."""
    assert ordered(EMPTY) == PLACES


def test_a_place_is_left_out_until_the_block_is_over():
    """One second before its end it is still left out."""
    record = knowing(news(PlaceEvent.STOCKOUT))
    assert ordered(record, NOW + LIMITS.block - SECOND) == (NEXT, FAR)


def test_a_place_comes_back_when_the_block_is_over():
    """The other side of the limit: asked again, but behind the others, for it may be gone again soon."""
    assert ordered(knowing(news(PlaceEvent.STOCKOUT)), NOW + LIMITS.block) == (NEXT, FAR, HOME)


def test_a_fragile_place_stands_behind_one_with_more_trouble():
    """A zone up for ten minutes is lost in the next ten four times in ten; an old one seldom."""
    record = knowing(
        news(PlaceEvent.STOCKOUT, HOME, 59 * MINUTE),
        *(news(PlaceEvent.PREEMPTED, NEXT, k * MINUTE) for k in range(3)),
    )
    assert order((HOME, NEXT), record, NOW, LIMITS) == (NEXT, HOME)


def test_a_place_is_no_longer_fragile_after_the_window():
    """The other side of the limit: now the count decides."""
    record = knowing(
        news(PlaceEvent.STOCKOUT, HOME, 60 * MINUTE),
        *(news(PlaceEvent.PREEMPTED, NEXT, k * MINUTE) for k in range(3)),
    )
    assert order((HOME, NEXT), record, NOW, LIMITS) == (HOME, NEXT)


def test_a_preempted_place_is_asked_after_the_others_but_not_blocked():
    """One VM that was taken does not say that there is no room for another."""
    assert ordered(knowing(news(PlaceEvent.PREEMPTED))) == (NEXT, FAR, HOME)


def test_home_is_home_again_once_its_trouble_has_faded_by_half():
    """Less than half an event counts as none, and a tie goes to the given order."""
    record = knowing(news(PlaceEvent.PREEMPTED))
    assert ordered(record, NOW + LIMITS.half_life - SECOND) == (NEXT, FAR, HOME)
    assert ordered(record, NOW + LIMITS.half_life) == PLACES


def test_less_trouble_goes_first():
    """Two preemptions stand behind one."""
    record = knowing(
        news(PlaceEvent.PREEMPTED, HOME, MINUTE),
        news(PlaceEvent.PREEMPTED, HOME),
        news(PlaceEvent.PREEMPTED, NEXT),
    )
    assert ordered(record) == (FAR, NEXT, HOME)


def test_a_success_does_not_lift_a_block():
    """What was given before the place ran out says nothing of now."""
    assert HOME not in ordered(
        knowing(news(PlaceEvent.STOCKOUT, ago=MINUTE), news(PlaceEvent.GAVE, ago=2 * MINUTE))
    )


def test_a_stockout_told_by_a_clock_a_minute_ahead_blocks_all_the_same():
    """Clocks differ by as much as a minute."""
    assert HOME not in ordered(knowing(news(PlaceEvent.STOCKOUT, ago=-MINUTE)))


def test_a_stockout_that_cannot_have_been_yet_blocks_nothing():
    """A date of next year is a mistake; it must not close a zone until then."""
    assert ordered(knowing(news(PlaceEvent.STOCKOUT, ago=timedelta(days=-365)))) == PLACES


def test_the_first_of_the_blocked_places_opens_first():
    """The one that ran out first."""
    record = knowing(*(news(PlaceEvent.STOCKOUT, place, k * MINUTE) for k, place in enumerate(PLACES)))
    assert ordered(record, NOW + 8 * MINUTE - SECOND) == ()
    assert ordered(record, NOW + 8 * MINUTE) == (FAR,)


# --- prices ---


def cheapest_last(record=EMPTY, prices=None):
    """The order where each place costs less than the one before it, unless told otherwise."""
    return order(PLACES, record, NOW, LIMITS, {HOME: 3.0, NEXT: 2.0, FAR: 1.0} if prices is None else prices)


def test_among_places_alike_the_cheapest_comes_first():
    """Whatever order they were given in."""
    assert cheapest_last() == (FAR, NEXT, HOME)


def test_equal_prices_leave_the_order_as_it_was_given():
    """All zones of a region cost the same."""
    assert cheapest_last(prices=dict.fromkeys(PLACES, 2.0)) == PLACES


def test_no_price_outweighs_trouble():
    """A restart costs more than an hour's difference."""
    assert cheapest_last(knowing(news(PlaceEvent.PREEMPTED, FAR))) == (NEXT, HOME, FAR)


def test_a_place_without_a_price_counts_as_costing_what_home_does():
    """It is not asked before home, nor after what costs more."""
    assert cheapest_last(prices={HOME: 2.0, NEXT: 3.0}) == (HOME, FAR, NEXT)


def test_where_home_has_no_price_prices_say_nothing():
    """A job leaves its home for a price that is known to be lower, and for no other."""
    assert cheapest_last(prices={NEXT: 1.0, FAR: 0.5}) == PLACES


# --- jitter ---


def test_the_same_job_and_turn_wait_equally_long():
    """Whichever sweep computes it."""
    assert jitter("job", 1, MINUTE) == jitter("job", 1, MINUTE)


def test_turns_of_one_job_differ():
    """Two jobs that collide once do not collide for ever."""
    assert len({jitter("job", turn, MINUTE) for turn in range(10)}) == 10


def test_a_thousand_jobs_are_spread_over_the_whole_span():
    """No second of a minute sees more than a few times its share of them."""
    seconds = [int(jitter(f"job-{k}", 1, MINUTE).total_seconds()) for k in range(1000)]
    assert set(seconds) == set(range(60))
    assert max(seconds.count(second) for second in set(seconds)) < 40


# --- on-demand ---


def asked(preemptions=0, remaining=timedelta(hours=5), deadline=None, limits=LIMITS):
    """Why on-demand, if at all."""
    return why_on_demand(
        preemptions=preemptions, remaining=remaining, deadline=deadline, now=NOW, limits=limits
    )


def test_without_a_deadline_spot_is_asked_for_ever():
    """`on_demand_after` is off unless the team sets it."""
    assert not asked(preemptions=1000)


def test_the_last_allowed_preemption_turns_to_on_demand():
    """From that count on, and not before."""
    limits = PlacementLimits(on_demand_after=3)
    assert not asked(preemptions=2, limits=limits)
    assert asked(preemptions=3, limits=limits) == "preempted 3 times, on-demand from 3 on"


def test_a_deadline_with_time_for_two_starts_is_still_spot():
    """Two restarts fit: one that spot may cost, one for on-demand."""
    assert not asked(deadline=NOW + timedelta(hours=5) + 20 * MINUTE + SECOND)


def test_a_deadline_that_another_lost_start_would_break_is_on_demand():
    """The other side of the limit, and the reason names deadline and work."""
    why = asked(deadline=NOW + timedelta(hours=5) + 20 * MINUTE)
    assert why == "the deadline 2026-11-21 17:20 UTC leaves no time to wait: 5.0 h of work left"


def test_a_deadline_says_nothing_where_the_work_left_is_unknown():
    """Money is not spent on a guess."""
    assert not asked(remaining=None, deadline=NOW)


def test_a_missed_deadline_is_on_demand():
    """The rest is done as fast as can be."""
    assert asked(deadline=NOW - timedelta(days=1))


def test_waiting_ends_where_on_demand_begins():
    """A sweep that sleeps until then wakes up to on-demand."""
    deadline = NOW + timedelta(hours=9)
    last = spot_until(timedelta(hours=5), deadline, LIMITS)
    facts = {"preemptions": 0, "remaining": timedelta(hours=5), "deadline": deadline, "limits": LIMITS}
    assert why_on_demand(now=last, **facts)
    assert not why_on_demand(now=last - SECOND, **facts)


def test_more_work_than_the_calendar_holds_is_on_demand():
    """An estimate that cannot be does not raise."""
    assert asked(remaining=timedelta.max - timedelta(days=1), deadline=NOW)


# --- properties ---

# However slow the machine is.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SPANS = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=2))
MOMENTS = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 20), timezones=st.just(UTC))  # noqa: DTZ001 — hypothesis adds the zone
HOUR = timedelta(hours=1)
LAST_HOUR = st.timedeltas(timedelta(), HOUR - SECOND)
NEAR = SPANS.map(lambda ago: NOW - ago)
NAMES = st.sampled_from((*PLACES, "us-west1-b", "europe-west4"))
ANY_LIMITS = st.builds(PlacementLimits, block=SPANS, fragile=SPANS, half_life=SPANS)


def before(ago):
    """The moment so long ago."""
    return NOW - ago


def news_at(moments):
    """News of any kind from any place, at such moments."""
    return st.builds(PlaceNews, place=NAMES, event=st.sampled_from(PlaceEvent), at=moments)


@patient
@given(st.lists(NAMES, unique=True), st.lists(news_at(MOMENTS)), MOMENTS, ANY_LIMITS)
def test_nothing_raises_and_every_open_place_is_named_once(places, told, now, limits):
    """At any moment of the calendar: the order holds the open ones."""
    record = learn(EMPTY, told, limits)
    best = order(places, record, now, limits)
    blocked = {
        place
        for place in places
        if (out := record.availability.get(place, ZoneAvailability()).out) and abs(now - out) < limits.block
    }
    assert sorted(best) == sorted(set(places) - blocked)


@patient
@given(st.lists(news_at(st.timedeltas(HOUR, 2 * HOUR).map(before))), st.lists(news_at(LAST_HOUR.map(before))))
def test_learning_in_one_go_or_two_makes_the_same_record(early, late):
    """Batches follow one another in time; where they are cut does not matter."""
    twice = learn(learn(EMPTY, early, LIMITS), late, LIMITS)
    assert twice == learn(EMPTY, [*early, *late], LIMITS)


@patient
@given(st.lists(news_at(NEAR), min_size=1))
def test_learning_all_over_again_changes_nothing_of_note(told):
    """A sweep that died after it had written tells everything once more."""
    once = learn(EMPTY, told, LIMITS)
    assert learn(once, told, LIMITS) == once


@patient
@given(st.lists(news_at(NEAR)), NAMES, st.sampled_from([PlaceEvent.STOCKOUT, PlaceEvent.PREEMPTED]))
def test_trouble_never_improves_the_rank_of_a_place(told, place, event):
    """One more piece of bad news moves a place back or leaves it where it is."""
    places = (*PLACES, "us-west1-b", "europe-west4")
    before = learn(EMPTY, told, LIMITS)
    after = learn(before, [PlaceNews(place=place, event=event, at=NOW)], LIMITS)
    ranks = [order(places, record, NOW, LIMITS) for record in (before, after)]
    if place in ranks[1]:
        assert ranks[1].index(place) >= ranks[0].index(place)


@patient
@given(st.lists(news_at(NEAR)), st.timedeltas(min_value=timedelta(days=3), max_value=timedelta(days=3000)))
def test_everything_is_forgiven_in_days(told, later):
    """Whatever happened, the given order comes back."""
    assert ordered(learn(EMPTY, told, LIMITS), NOW + later) == PLACES


@patient
@given(st.text(), st.integers(), SPANS)
def test_jitter_stays_within_its_span(job, turn, span):
    """Any name, any turn."""
    assert timedelta() <= jitter(job, turn, span) <= span


@patient
@given(
    st.floats(),
    st.timedeltas(min_value=timedelta(days=-5)),
    MOMENTS,
    MOMENTS,
    st.integers(),
)
def test_no_progress_report_makes_the_choice_of_on_demand_raise(done, up, deadline, now, preemptions):
    """Whatever a heartbeat says."""
    left = remaining_work(done=done, up=up)
    why = why_on_demand(preemptions=preemptions, remaining=left, deadline=deadline, now=now, limits=LIMITS)
    assert not why or left is not None
