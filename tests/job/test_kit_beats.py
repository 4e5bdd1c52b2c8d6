"""What a heartbeat says and when it comes: always at its period, and never as if it were progress."""

import json
from datetime import datetime, timedelta
from itertools import pairwise
from urllib.parse import parse_qsl

import pytest

from tests.job.lab import told
from tests.job.shell import BEATING

TICKING = f"""{BEATING}
HEARTBEAT=300 PERIOD=60 LOG_PERIOD=2
put() {{ echo "$SECONDS ${{2#job/metadata/}}"; }}
sleep() {{
  SECONDS=$((SECONDS + $1))
  [ "$SECONDS" -lt "$END" ] || exit 0
  print_something
}}
unset SECONDS
SECONDS=0
"""
"""Hours that pass as fast as they are asked for: uploads are printed with their second."""
HOUR = 3600


def beats_in(said):
    """The heartbeats among what was uploaded."""
    found = []
    for line in said.splitlines():
        if line.startswith("== "):
            found.append({})
        elif line.startswith("beside "):
            name, _, text = line.removeprefix("beside ").partition("=")
            found[-1][name] = text
    return [told(metadata) for metadata in found if metadata]


def points_in(said):
    """The points of a curve among what was uploaded."""
    return [json.loads(line) for line in said.splitlines() if line.startswith('{"at"')]


def uploads(shell, loop, what, *, end=HOUR, prints=":"):
    """At which seconds a loop uploads this, where the program prints so each time that somebody waits."""
    said = shell.run(f"{TICKING} END={end}; print_something() {{ {prints}; }}; {loop}")
    return [int(line.split()[0]) for line in said.splitlines() if line.split()[1].startswith(what)]


@pytest.mark.parametrize("prints", [":", "echo line >> 3.log"])
def test_a_heartbeat_comes_each_five_minutes_whatever_is_printed(shell, prints):
    """Twelve an hour, 8,640 a month, each a write: that is what the page of costs counts."""
    assert uploads(shell, "send_beats", "heartbeats/", prints=prints) == list(range(0, HOUR, 300))


def test_a_heartbeat_that_could_not_be_written_is_tried_at_the_next_look(shell):
    """Not five minutes later."""
    refused = 'may_write() { [ "$SECONDS" -gt 100 ]; };'
    assert uploads(shell, f"{refused} send_beats", "heartbeats/")[:2] == [120, 420]


def test_figures_are_kept_each_minute_though_no_heartbeat_is_due(shell):
    """A curve has the points that it had when heartbeats came with them; the same figures make none."""
    grows = 'echo "{\\"step\\": $((SECONDS / 120))}" > progress'
    assert uploads(shell, "send_beats", "metrics/", end=600, prints=grows) == [60, 120, 240, 360, 480]


def test_the_first_line_of_a_log_goes_up_within_seconds(shell):
    """It is looked for each two seconds, and goes up when it is there."""
    prints = '[ "$SECONDS" -lt 100 ] || echo line > 3.log'
    assert uploads(shell, "send_log", "logs/", end=200, prints=prints) == [100]


def test_a_log_that_always_grows_goes_up_once_a_minute(shell):
    """Each upload is a write of the whole; only the first lines come sooner."""
    seconds = uploads(shell, "send_log", "logs/", end=600, prints="echo line >> 3.log")
    assert seconds[:7] == [2, 4, 8, 16, 32, 64, 124]
    assert {later - sooner for sooner, later in pairwise(seconds[6:])} == {60}


def test_a_line_after_a_silence_goes_up_at_once(shell):
    """Nobody waits a minute for the line of an epoch."""
    prints = "[ $((SECONDS % 1000)) != 500 ] || echo line >> 3.log"
    assert uploads(shell, "send_log", "logs/", prints=prints) == [500, 1500, 2500, 3500]


def test_a_program_that_is_silent_has_heartbeats_that_say_so(shell):
    """Each kind of news is progress, and a heartbeat without any says when there last was some."""
    news = (
        "echo line >> 3.log",
        "echo x > output/x",
        "echo '{\"step\": 1}' > progress",
        "touch code/events.out.tfevents.1",
        "true",
    )
    looks = "".join(f'echo none > "$STATE/progress-at"; {each}; beat; ' for each in news)
    beats = beats_in(shell.run(f"{BEATING} beat; {looks}"))
    assert [beat["progress_at"] != "none" for beat in beats] == [True, True, True, True, True, False]
    at, progress = (datetime.fromisoformat(beats[0][name]) for name in ("at", "progress_at"))
    assert timedelta(0) <= at - progress < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("silences", "gaps"), [((50,), [None]), ((60,), [60]), ((90, 600, 70), [90, 600, 600])]
)
def test_a_heartbeat_says_the_longest_silence_that_the_program_has_broken(shell, silences, gaps):
    """From a minute on; a shorter one after it changes nothing."""
    ends = "".join(
        f'touch -d "@$((EPOCHSECONDS - {silence}))" "$STATE/progress-at"; echo line >> 3.log; beat; '
        for silence in silences
    )
    first, *beats = beats_in(shell.run(f"{BEATING} beat; {ends}"))
    assert "longest_gap" not in first
    told = [beat.get("longest_gap") for beat in beats]
    assert [gap and round(gap, -1) for gap in told] == gaps


def test_a_silence_that_lasts_is_no_gap_yet(shell):
    """Nobody knows whether the program comes back from it."""
    silent = 'touch -d "@$((EPOCHSECONDS - 7000))" "$STATE/progress-at"; beat'
    assert "longest_gap" not in beats_in(shell.run(f"{BEATING} beat; {silent}"))[-1]


def test_a_heartbeat_says_with_which_step_its_attempt_began(shell):
    """Of an attempt that came later on the same VM it is that one's own first step."""
    step = "echo '{{\"step\": {}}}' > progress; beat; ".format
    looks = f"{step(40)}{step(90)}ATTEMPT=8; {step(50)}{step(95)}"
    beats = beats_in(shell.run(f"{BEATING} ATTEMPT=7; beat; {looks}"))
    assert [beat.get("first_step") for beat in beats] == [None, 40, 40, 50, 50]


def test_a_heartbeat_says_what_is_known_and_new_figures_make_a_line(shell):
    """The line says the same; the same figures make no second one."""
    line = '{"step": 5, "steps": 9, "loss": NaN, "acc": 0.5}'
    twice = "beat; keep_figures; echo more >> 3.log; beat; keep_figures"
    said = shell.run(f"{BEATING} echo '{line}' > progress; {twice}")
    figures = {
        "attempt": 3,
        "instance_id": "17",
        "step": 5,
        "steps": 9,
        "metrics": {"loss": "nan", "acc": 0.5},
    }
    known = {**figures, "first_step": 5, "job": "job", "status": "running"}
    moments = {"at": "", "progress_at": ""}
    assert [{**beat, **moments} for beat in beats_in(said)] == [{**known, **moments}] * 2
    assert [{**point, "at": ""} for point in points_in(said)] == [{**figures, "at": ""}]
    assert said.count("== metrics/vm/3.jsonl") == 1
    assert len((shell.folder / "3.jsonl").read_text().splitlines()) == 1


def test_a_long_run_keeps_every_second_figure(shell):
    """The first ones stay, and so does the shape of the curve."""
    grows = (
        "for n in 1 2 3 4 5 6 7 8 9; do echo '{\"loss\": '$n'}' > progress; follow_file; keep_figures; done"
    )
    shell.run(f"{BEATING} METRICS_AT_MOST=300; {grows} >/dev/null")
    kept = [
        json.loads(line)["metrics"]["loss"] for line in (shell.folder / "3.jsonl").read_text().splitlines()
    ]
    assert kept[0] == 1
    assert kept == sorted(kept)
    assert len(kept) < 9


def test_a_heartbeat_is_an_empty_object_and_all_that_it_tells_is_beside_it(shell):
    """Who lists a thousand of them reads none."""
    line = '{"step": 5, "checkpoint": "a, \\"b\\": c=d", "loss": 0.5}'
    said = shell.run(f"{BEATING} echo '{line}' > progress; beat")
    assert all(row.startswith(("== heartbeats/vm", "beside ")) for row in said.splitlines())
    assert beats_in(said)[0]["checkpoint"] == 'a, "b": c=d'


@pytest.mark.parametrize("checkpoint", ["é", "last\\u00e9.pt", "a\\nb"])
def test_a_checkpoint_of_any_bytes_is_told_as_one_line_of_utf_8(shell, checkpoint):
    """Cloud Storage would refuse the whole heartbeat otherwise."""
    (shell.folder / "progress").write_text(f'{{"checkpoint": "{checkpoint}"}}')
    [beat] = beats_in(shell.run(f"{BEATING} beat"))
    assert beat["checkpoint"] in {"é", "lasté.pt", "a b"}


def test_a_heartbeat_keeps_within_what_custom_metadata_hold(shell):
    """8 KiB: of too many metrics some are left out, and those that are no number last of all."""
    many = json.dumps({**{f"metric_{number}_{'x' * 40}": 0.5 for number in range(199)}, "loss": "nan"})
    line = json.dumps({"checkpoint": "é" * 2000})
    (shell.folder / "progress").write_text(f"{many}\n{line}\n")
    [beat] = beats_in(shell.run(f"{BEATING} beat"))
    assert beat["metrics"]["loss"] == "nan"
    assert 20 < len(beat["metrics"]) < 200
    assert sum(len(f"{name}{value}".encode()) for name, value in beat.items()) < 8 * 1024


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", {"status": "running"}),
        ("stopped", {"status": "stopped"}),
        ("0", {"status": "0"}),
        ("7 1", {"status": "7", "stopped": "1"}),
    ],
)
def test_a_heartbeat_says_what_became_of_the_program(shell, words, says):
    """It runs, was told to stop, or has ended with its status."""
    [beat] = beats_in(shell.run(f"{BEATING} beat {words}"))
    assert {name: text for name, text in beat.items() if name in {"status", "stopped"}} == says


def test_where_only_one_value_arrives_a_heartbeat_is_in_it(shell):
    """A gsutil that hands its work to gcloud ends a value at a comma, and keeps the last value alone."""
    line = '{"step": 5, "checkpoint": "a, b&c=d", "loss": 0.5}'
    [beat] = beats_in(shell.run(f"{BEATING} TRANSPORT=gsutil; echo '{line}' > progress; beat"))
    assert set(beat) == {"beat"}
    assert "," not in beat["beat"]
    values = dict(parse_qsl(beat["beat"]))
    assert (values["job"], values["step"], values["checkpoint"]) == ("job", "5", "a, b&c=d")


@pytest.mark.parametrize("refused", ["heartbeats", "metrics", "logs", "nothing"])
def test_the_last_of_a_program_is_sent_again_where_an_object_was_written_a_second_ago(shell, refused):
    """There is no next look that would send it; what was taken is sent once."""
    said = shell.run(
        f"""{BEATING}
        put() {{
          echo "${{2#job/metadata/}}"
          [ -e once ] || [[ $2 != *{refused}/* ]] || {{ touch once; return 2; }}
        }}
        sleep() {{ echo "waits $1 s"; }}
        echo '{{"step": 120}}' >progress; echo done > 3.log
        tell_end 0
        """
    ).splitlines()
    sent = [line.partition("/")[0] for line in said if not line.startswith("waits")]
    assert sent.count(refused) == (2 if refused != "nothing" else 0)
    assert {*sent} == {"heartbeats", "metrics", "logs"}
    assert len(sent) == (4 if refused != "nothing" else 3)
    waits = [line for line in said if line.startswith("waits")]
    assert len(waits) == (1 if refused != "nothing" else 0)
    assert all(line.startswith(("waits 1.", "waits 2 ")) for line in waits)


def test_of_changes_within_a_second_the_last_one_is_what_is_read(lab):
    """An object takes one write a second; a program that ends at once has begun and ended in less."""
    vm = lab.job("exit 3", spotwarden_keep_vm="1")
    assert vm.status() == "3"
    assert vm.beat["status"] == "3"
    vm.delete()
