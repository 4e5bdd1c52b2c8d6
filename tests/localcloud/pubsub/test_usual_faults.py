"""What befalls messages where nobody has asked for anything: at least once, and not always at once."""

import asyncio
from pathlib import Path

from localcloud.cloud import LocalCloud, Options
from localcloud.limits import OFF, Limits
from localcloud.pubsub.fault_injection import FaultInjection, PubSubFault
from localcloud.pubsub.terms import Backoff
from tests.localcloud.pubsub.test_pubsub_queue import Message, queue, take

TOPIC = "projects/demo/topics/news"
FUNCTION = "http://127.0.0.1:1/"
MAILBOX = "http://127.0.0.1:2/local/mailbox/notices"
ALWAYS_TWICE = PubSubFault(double=1)


def injection(usual: PubSubFault = ALWAYS_TWICE) -> FaultInjection:
    """Fault injection whose usual rule spares the mailbox."""
    found = FaultInjection()
    found.set_usual(usual, "/mailbox/notices")
    return found


def test_it_befalls_what_is_pushed_and_neither_what_is_pulled_nor_who_is_spared() -> None:
    """A pull is somebody's look; the mailbox is ours."""
    found = injection()
    assert [len(found.delays(TOPIC, endpoint)) for endpoint in (FUNCTION, "", MAILBOX)] == [2, 1, 1]


def test_a_rule_that_was_asked_for_goes_first_and_without_it_the_usual_one_holds_again() -> None:
    """For its topic, or for all."""
    found = injection()
    found.set(PubSubFault(drop=1), TOPIC)
    assert found.delays(TOPIC, FUNCTION) == []
    found.clear()
    assert len(found.delays(TOPIC, FUNCTION)) == 2


def test_a_message_that_is_late_is_counted_as_under_way_as_far_as_the_usual_delay_goes() -> None:
    """Those that wait for longer are not, nor those that failed and come again."""
    messages = queue(backoff=Backoff(least=1, most=1))
    messages.add(Message("late"), 0.0, delay=2.0)
    messages.add(Message("later"), 0.0, delay=9.0)
    assert [messages.at_work(0.0, within) for within in (0.0, 1.9, 2.0)] == [0, 0, 1]
    (held,) = take(messages, 2.0, 1)
    messages.extend(held.ack_id, 0, 2.0)
    assert [messages.at_work(now, 2.0) for now in (2.0, 3.0)] == [0, 1]


def test_the_limits_of_a_cloud_say_what_is_usual(tmp_path: Path) -> None:
    """And a change of them counts at once."""

    async def story() -> None:
        limits = Limits(doubled=1, late=1, late_seconds=4)
        async with LocalCloud(
            Options(project="demo", state=tmp_path, machines=False, limits=limits)
        ) as cloud:
            found = cloud.pubsub._registry.fault_injection
            first = found.delays(TOPIC, FUNCTION)
            assert len(first) == 2
            assert all(0 < delay <= 4 for delay in first)
            assert found.delays(TOPIC, MAILBOX) == [0.0]
            assert found.usual_delay == 4
            cloud.limits.set(OFF)
            assert found.delays(TOPIC, FUNCTION) == [0.0]
            assert found.usual_delay == 0

    asyncio.run(story())
