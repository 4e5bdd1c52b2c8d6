"""Values of flags: sizes, durations, moments, lists and dictionaries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.create_script.gcloud.lists import label_key, label_value, pairs, texts
from spotwarden.create_script.gcloud.times import duration, moment
from spotwarden.create_script.gcloud.values import GIB, Misfit, choice, enum, size, whole, whole_gb, yes_no


@pytest.mark.parametrize(
    ("text", "gib"),
    [
        ("200", 200),
        ("200GB", 200),
        ("200gb", 200),
        ("200GiB", 200),
        ("10240MB", 10),
        ("1TB", 1024),
        ("1.5TB", 1536),
    ],
)
def test_a_size_counts_in_powers_of_1024_and_in_gb_without_a_unit(text, gib):
    """GB and GiB are the same to gcloud."""
    assert size()(text) == gib * GIB


@pytest.mark.parametrize("text", ["", "GB", "10 GB", "-1", "10XB", "1.5tb", "0.3B", "1i", "9" * 50])
def test_a_size_that_gcloud_cannot_read_is_refused(text):
    """A fraction needs its unit in capitals; longer numbers than any disk are not computed."""
    with pytest.raises(Misfit):
        size()(text)


def test_both_limits_of_a_size_belong_to_it():
    """One GB below the lower or above the upper limit is refused."""
    read = size(low=375 * GIB, high=6000 * GIB)
    assert (read("375"), read("6000")) == (375 * GIB, 6000 * GIB)
    for text in ("374", "6001"):
        with pytest.raises(Misfit):
            read(text)


def test_a_disk_is_a_whole_number_of_gb():
    """Half a GB is refused, and nothing stays nothing."""
    assert whole_gb(10 * GIB) == "10"
    assert whole_gb(None) is None
    with pytest.raises(Misfit, match="11GB"):
        whole_gb(10 * GIB + GIB // 2)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30),
        ("90m", 5400),
        ("1h30m15s", 5415),
        ("1d12h", 129600),
        ("1w", 604800),
        ("1.5h", 5400),
        ("PT1H30M", 5400),
        ("2000ms", 2),
        ("", 0),
        ("365d", 31536000),
        ("366d", 31556926),
        ("400d", 34494526),
        ("P1M", 2629744),
    ],
)
def test_a_duration_is_read_in_seconds(text, seconds):
    """From 366 days on gcloud counts in mean years, and so do we."""
    assert duration()(text) == seconds


@pytest.mark.parametrize("text", ["2hours", "1h30", "h", "1 h", "0.5s", "-5", "1T", "..h", "1h" * 60])
def test_a_duration_that_is_none_is_refused(text):
    """Every number needs its unit, every unit its number, and seconds are whole."""
    with pytest.raises(Misfit):
        duration()(text)


def test_both_limits_of_a_duration_belong_to_it():
    """The unit of a bare number is the flag's own."""
    read = duration(unit="h", high=168 * 3600)
    assert read("168") == 168 * 3600
    with pytest.raises(Misfit):
        read("169")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("2031-03-01T18:00:00Z", "2031-03-01T18:00:00.000Z"),
        ("2031-03-01T18:00:00+02:00", "2031-03-01T18:00:00.000+02:00"),
        ("2031-03-01T18:00:00", "2031-03-01T18:00:00.000Z"),
        ("2031-03-01", "2031-03-01T00:00:00.000Z"),
        ("20310301T180000Z", "2031-03-01T18:00:00.000Z"),
        ("2031-3-1 8:00", "2031-03-01T08:00:00.000Z"),
        ("2031-03-01T18:00:00.1239Z", "2031-03-01T18:00:00.123Z"),
        ("", None),
    ],
)
def test_a_moment_is_sent_with_milliseconds_and_its_offset(text, sent):
    """Without a zone it is in UTC."""
    assert moment(text) == sent


@pytest.mark.parametrize(
    "text", ["tomorrow", "2h", "18:00", "2031-13-01", "2031-02-30", "2031-03-01T25:00", "1/2/2031"]
)
def test_a_moment_that_depends_on_today_is_refused(text):
    """It would mean another moment at every re-run."""
    with pytest.raises(Misfit):
        moment(text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a,b", ["a", "b"]),
        ("a,b,", ["a", "b"]),
        ("a,,b", ["a", "", "b"]),
        ("", []),
        (",", [""]),
        ("^;^a,1;b", ["a,1", "b"]),
        ("^,@^a,b,@c", ["a,b", "c"]),
        ("^a,b", ["^a", "b"]),
        ("a^;^b,c", ["a^;^b", "c"]),
    ],
)
def test_a_list_is_cut_at_commas_or_at_the_delimiter_between_two_carets(text, pieces):
    """A caret that is not the first character is a plain one."""
    assert texts()(text) == pieces


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=1,b=2", {"a": "1", "b": "2"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=", {"a": ""}),
        ("a=1,a=2", {"a": "2"}),
        ("a=1, b=2", {"a": "1", " b": "2"}),
        ("^\n^a=1,2\nb=3", {"a": "1,2", "b": "3"}),
        ("a=x\ny", {"a": "x\ny"}),
    ],
)
def test_a_dictionary_is_cut_at_the_first_equals_sign(text, found):
    """Nothing is trimmed, and the last value of a key counts."""
    assert pairs()(text) == found


@pytest.mark.parametrize("text", ["a", "a=1,b", "=1", "a=1,,b=2", "^^a=1"])
def test_a_piece_without_key_or_value_is_refused(text):
    """That is what happens to commas inside a startup script."""
    with pytest.raises(Misfit):
        pairs()(text)


def test_a_delimiter_keeps_commas_in_a_value_unless_the_value_holds_it():
    """The delimiter itself cuts wherever it stands."""
    assert pairs()("^;^a=x, y;b=z") == {"a": "x, y", "b": "z"}
    with pytest.raises(Misfit):
        pairs()("^;^a=x; y")


WORDS = st.text(st.characters(blacklist_characters="^=#"), min_size=1).filter(lambda word: "," not in word)


@given(st.dictionaries(WORDS, st.text(st.characters(blacklist_characters="#")), min_size=1))
def test_any_dictionary_survives_a_delimiter_that_it_does_not_hold(data):
    """The escape that gcloud recommends works for every value."""
    written = "^#^" + "#".join(f"{key}={value}" for key, value in data.items())
    assert pairs()(written) == data


@pytest.mark.parametrize("key", ["a", "a-b_c1", "é", "中"])
def test_a_label_key_begins_with_a_lower_case_letter(key):
    """Letters without a case count as lower case."""
    assert label_key(key) == key


@pytest.mark.parametrize("key", ["A", "1a", "-a", "", "a.b", "a" * 64])
def test_any_other_label_key_is_refused(key):
    """64 characters are one too many."""
    with pytest.raises(Misfit):
        label_key(key)


def test_a_label_value_may_be_empty_and_63_characters_long():
    """One more, a capital or a dot is refused."""
    assert label_value("") == ""
    assert label_value("a" * 63) == "a" * 63
    for value in ("a" * 64, "Ada", "1.2"):
        with pytest.raises(Misfit):
            label_value(value)


def test_yes_no_takes_four_words_in_any_case():
    """Numbers are none of them."""
    assert [yes_no(word) for word in ("yes", "TRUE", "no", "False")] == [True, True, False, False]
    with pytest.raises(Misfit):
        yes_no("1")


def test_a_choice_is_folded_before_it_is_compared():
    """What is left must be one of the list to the letter."""
    read = choice(("ANY_SINGLE_ZONE",), fold=enum)
    assert read("any-single-zone") == "ANY_SINGLE_ZONE"
    with pytest.raises(Misfit, match="ANY_SINGLE_ZONE"):
        read("any single zone")


@pytest.mark.parametrize("text", ["", "x", "1.5", "9" * 5000])
def test_a_whole_number_is_nothing_else(text):
    """Numbers of thousands of digits are refused, not computed."""
    with pytest.raises(Misfit):
        whole()(text)
