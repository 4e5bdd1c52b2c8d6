"""A sweep makes a great deal of data, among which Python looks for garbage seldom."""

import gc

import pytest

from spotwarden.engine.entry import open_context
from spotwarden.engine.settings import SettingsError


@pytest.fixture
def searches():
    """How often it was looked for while a function that was woken makes this much."""

    def count(lists):
        with pytest.raises(SettingsError):
            open_context("reap_vms", {}, {}, lambda **_settings: None)
        before = sum(generation["collections"] for generation in gc.get_stats())
        made = [[] for _ in range(lists)]
        assert len(made) == lists
        return sum(generation["collections"] for generation in gc.get_stats()) - before

    usual = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield count
    gc.set_threshold(*usual)


def test_what_is_made_of_a_few_thousand_vms_is_not_gone_through(searches):
    """It is all still there."""
    gc.collect()
    assert searches(20_000) == 0


def test_garbage_is_looked_for_where_very_much_is_made(searches):
    """A warm function must not grow by what its failures have left in cycles."""
    assert searches(200_000) > 0


def test_a_process_that_never_looks_for_garbage_is_left_so(searches):
    """It has chosen that."""
    gc.set_threshold(0)
    assert searches(200_000) == 0
