"""The policy file: it holds the defaults, and a bad one is refused with every fault in it."""

import re
import tomllib
from datetime import date, timedelta
from pathlib import Path

import msgspec
import pytest

from spotwarden.engine.policy_file import reading
from spotwarden.engine.policy_file.document import read_document
from spotwarden.engine.policy_file.reading import PolicyError, read_policy
from spotwarden.model.governance import Calendar, GovernanceLimits
from spotwarden.model.limits import AdmissionLimits, NotifyLimits, PlacementLimits, RecoveryLimits
from spotwarden.model.policy import RULES, Mode, Policy

FILE = Path(__file__).resolve().parents[2] / "infra/policy.toml"
SECTIONS = {
    "recovery": RecoveryLimits,
    "placement": PlacementLimits,
    "governance": GovernanceLimits,
    "governance.calendar": Calendar,
    "notify": NotifyLimits,
    "admission": AdmissionLimits,
    **RULES,
}
GOOD = 'version = "1"\n'


@pytest.fixture
def read(tmp_path):
    """Read this text as a policy."""

    def go(text, **said):
        file = tmp_path / "policy.toml"
        file.write_text(text)
        return read_policy(file, **said)

    return go


@pytest.fixture
def faults(read):
    """The faults of this text, `place: what`, without the line that names the file."""

    def go(text):
        with pytest.raises(PolicyError) as refusal:
            read(text)
        head, *lines = str(refusal.value).splitlines()
        assert "policy.toml: " in head
        return [line.strip() for line in lines]

    return go


def test_the_policy_file_holds_the_defaults_and_observes():
    """What the file says is what the code takes where the file says nothing; a first deployment observes.

    But for mail: whoever has no file has agreed on no way to be told, and only the topic is sure.
    """
    assert read_policy(FILE) == Policy(version="1", mode=Mode.OBSERVE, notify=NotifyLimits(email=True))


@pytest.mark.parametrize("section", SECTIONS)
def test_every_value_stands_in_the_policy_file(section):
    """A limit that only the code knows cannot be agreed on; one that is unset stands there as a comment."""
    text = FILE.read_text()
    body = re.search(rf"^\[{re.escape(section)}\]$(.*?)(?=^\[|^# ---|\Z)", text, re.MULTILINE | re.DOTALL)
    assert body, section
    named = set(re.findall(r"^(?:# )?(\w+) = ", body[1], re.MULTILINE))
    tables = {"calendar", "exemptions"}
    assert set(SECTIONS[section].__struct_fields__) - tables <= named


def test_every_value_of_every_rule_has_a_direction():
    """A value without one could not be held against a ceiling."""
    assert {rule: set(kind.__struct_fields__) for rule, kind in RULES.items()} == {
        rule: set(limits.LENIENT) for rule, limits in RULES.items()
    }


def test_the_examples_of_the_file_are_a_policy(read):
    """What stands there as a comment can be taken as it is."""
    text = FILE.read_text()
    examples = re.sub(r"^# (\[|\w+ = )", r"\1", text, flags=re.MULTILINE)
    assert len(tomllib.loads(examples)) > len(tomllib.loads(text))
    policy = read(examples)
    assert policy.teams["vision"].rules == {"idle": {"act": "4h"}}
    assert policy.governance.exemptions[0].until == date(2026, 12, 31)
    assert policy.job_cap.max_runtime == timedelta(days=7)


def test_a_mode_of_the_environment_wins(read):
    """The local cloud enforces a policy that observes."""
    assert read(GOOD).mode is Mode.OBSERVE
    assert read(GOOD, mode=Mode.ENFORCE).mode is Mode.ENFORCE


def test_ops_of_the_environment_stand_in_where_the_file_names_nobody(read):
    """What the team agreed on comes first."""
    assert read(GOOD, ops="ops@x.org").governance.ops == "ops@x.org"
    assert read(f'{GOOD}[governance]\nops = "a@x.org"', ops="ops@x.org").governance.ops == "a@x.org"


def test_a_missing_file_and_one_that_is_no_toml_are_refused(read, tmp_path):
    """Without a policy nothing is done."""
    with pytest.raises(PolicyError, match="no such file; a policy is expected there"):
        read_policy(tmp_path / "none.toml")
    with pytest.raises(PolicyError, match=r"it cannot be read: .*directory"):
        read_policy(tmp_path)
    with pytest.raises(PolicyError, match="Invalid value"):
        read("version = ")
    with pytest.raises(PolicyError, match=r"it cannot be read: .*recursion"):
        read("version = " + "[" * 100_000)


TIME = "it must be a time such as 90s, 5m, 1h30m or 2d"
BARE = "write a time such as 90s, 5m, 1h30m or 2d, with its unit"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", 'version: it is missing; write a text in quotes, such as "1"'),
        ("version = 1", "version: it is 1; it must be a text in quotes"),
        (GOOD + 'mood = "x"', "mood: unknown value; did you mean `mode`?"),
        (GOOD + 'mode = "act"', 'mode: it is \'act\'; it must be "observe" or "enforce"'),
        (GOOD + "idle = 3", "idle: it is 3; it must be a table, [idle]"),
        (GOOD + "[idel]", "idel: unknown value; did you mean `idle`?"),
        (GOOD + '[teams.x]\nemail = "x@y"', "teams.x.owners: it is missing"),
        (GOOD + '[[governance.exemptions]]\nowner = "a"', "governance.exemptions[0].until: it is missing"),
    ],
)
def test_a_fault_is_named_with_its_place(faults, text, says):
    """Nothing acts on half a policy; the message is enough to mend it."""
    assert says in faults(text)


def test_a_version_that_is_no_text_is_one_fault(faults):
    """It is wrong, not missing."""
    assert len(faults("version = 1")) == 1


@pytest.mark.parametrize(
    ("table", "line", "says"),
    [
        ("recovery", "max_restart = 3", "unknown value; did you mean `max_restarts`?"),
        ("recovery", "max_restarts = -1", "it is -1; it must be 0 or more"),
        ("recovery", 'lease = "five"', f"it is 'five'; {TIME}"),
        ("recovery", "lease = 300", f"it is the bare number 300; {BARE}"),
        ("recovery", 'lease = "179s"', "it is 2m59s; it must be 3m at least, for clocks"),
        ("recovery", "gcloud_version = 600", "it is 600; create scripts are read as 528 or 578"),
        ("recovery", 'first_backoff = "11m"', "it is longer than longest_backoff, 10m"),
        ("placement", "move = 1", "it is 1; it must be true or false"),
        ("placement", 'regions = "us-east4"', "it is 'us-east4'; it must be a list, each"),
        ("stall", "after = 2", f"it is the bare number 2; {BARE}"),
        ("stall", 'after = "2 days"', f"it is '2 days'; {TIME}"),
        ("stall", 'after = "-PT1H"', "it is -3600 s; it must be 0 or more"),
        ("stall", 'after = "99999d"', "it is 99999d; it must be 36500d or less"),
        ("stall", 'after = "9999999999999d"', f"it is '9999999999999d'; {TIME}"),
        ("job_cap", "budget = inf", "it is inf; it must be 1e+15 or less"),
        ("stall", 'after = "0d"', "it is 0; it must be more than 0"),
        ("stall", "cpu_at_rest = 101", "it is 101; it must be 100 or less"),
        ("stall", "cpu_at_rest = nan", "it is nan; it must be 0 or more"),
        ("orphan", "looks = 0", "it is 0; it must be 1 or more"),
        ("orphan", 'remedy = "kill"', 'it is \'kill\'; it must be "none" or "stop" or "delete"'),
        ("idle", 'remedy = "delete"', 'it is \'delete\'; for this rule it must be "none" or "stop"'),
        ("leftover", 'remedy = "stop"', 'it is \'stop\'; for this rule it must be "none" or "delete"'),
        ("compliance", 'remedy = "delete"', "it is 'delete'; for this rule it must be"),
        ("job_cap", 'remedy = "delete"', "it is 'delete'; for this rule it must be"),
        ("idle", "threshold = 0", "it is 0; it must be more than 0"),
        ("idle", "coverage = 1.01", "it is 1.01; it must be 1 or less"),
        ("idle", "warn = [60, 105]", f"it is the bare number 60; {BARE}"),
        ("idle", "warn = []", "it is empty; at least one warning is needed"),
        ("idle", 'warn = ["0m"]', "the first is 0; it must be more than 0"),
        ("idle", 'warn = ["105m", "1h"]', "they must be in ascending order, each once: 1h, 1h45m"),
        ("idle", 'warn = ["1h", "2h"]', "the last is 2h; it must be before act, 2h"),
        ("idle", 'grace = "61m"', "it is 1h1m; from the first warning to act there are only 1h"),
        ("job_cap", "warn = [0.8, 1.0]", "the last is 1; it must be a share below 1"),
        ("owner_cap", "warn = [0.8, 0.8]", "they must be in ascending order, each once: 0.8"),
        ("job_cap", 'longest = "1d"\nmax_runtime = "2d"', "it is 1d, less than max_runtime, 2d"),
        ("job_cap", "dearest = 8.5\nbudget = 9.0", "it is 8.5, less than budget, 9"),
        ("governance", "blast_share = 1.1", "it is 1.1; it must be 1 or less"),
        ("governance", "blast_count = 0", "it is 0; it must be 1 or more"),
        ("governance", "exemptions = 3", "it is 3; it must be a list of tables, [[governance.exemptions]]"),
        ("governance.calendar", 'timezone = "CEST"', "unknown time zone 'CEST'; write one such as"),
        (
            "governance.calendar",
            'days = ["sunday"]',
            "'sunday' is not a day of the week; did you mean `sun`?",
        ),
        ("governance.calendar", "days = []", "it names no day"),
        ("governance.calendar", 'hours = "9-18"', "'9-18' is not a range of hours; write it like 09-18"),
        ("governance.calendar", 'hours = "09-25"', "'09-25' is not a range of hours"),
        ("governance.calendar", 'hours = "09:60-18"', "'09:60-18' is not a range of hours"),
        ("governance.calendar", 'hours = "09-09"', "'09-09' leave no time"),
        (
            "governance.calendar",
            'holidays = ["25.12."]',
            "it is ['25.12.']; it must be a list, each of them a day",
        ),
        ("compliance", 'labels = ["Owner"]', "'Owner' cannot be the name of a label"),
        ("compliance", 'regions = ["us-east4-b"]', "'us-east4-b' is a zone; write its region, 'us-east4'"),
        ("compliance", 'provisioning = ["spot"]', "there is no 'spot'; did you mean `SPOT`?"),
        ("compliance", 'machine_types = ["a2-[12"]', "'a2-[12' has a bracket that is not closed"),
        ("compliance", 'machine_types = [" "]', "' ' can never match"),
        ("compliance", "most_vms_per_job = 1.5", "it is 1.5; it must be a whole number"),
        ("early_stop", "patience = 100", "the metric is missing; name it"),
        ("early_stop", 'patience = 0\nmetric = "val"', "it is 0; it must be more than 0"),
        ("early_stop", "over = { loss = nan }", "loss is nan; no value can be compared with that"),
        ("early_stop", "under = { loss = -inf }", "loss is -inf; no value can be compared with that"),
        ("early_stop", "over = 3", "it is 3; it must be a table of numbers such as { loss = 10.0 }"),
        ("early_stop", 'over = { loss = "9" }', "it is {'loss': '9'}; it must be a table of numbers"),
        ("early_stop", "over = { a = 1 }\nunder = { a = 1.5 }", "a is below its bound in under"),
        ("early_stop", 'goal = "best"', 'it is \'best\'; it must be "min" or "max"'),
        ("early_stop", 'remedy = "delete"', "it is 'delete'; for this rule it must be"),
        (
            "ceilings.early_stop",
            "unreal = true",
            "each job sets it without a limit, so it can't have a ceiling",
        ),
        ("admission", 'machine_types = ["g2-["]', "'g2-[' has a bracket that is not closed"),
        ("admission", 'images = ["debian-12"]', "'debian-12' names no project"),
        ("admission", "most_vms = 1.5", "it is 1.5; it must be a whole number"),
        ("notify", 'quiet = "22"', "'22' is not a range of hours"),
        ("notify", 'daily_at = "8:00"', "'8:00' is not a valid time of day; write it like 08:00"),
        ("notify", 'daily_at = "24:00"', "'24:00' is not a valid time of day"),
        ("notify", 'timezone = "Berlin"', "unknown time zone 'Berlin'"),
        (
            "notify",
            'timezones = { "*@example.com" = "Tokyo" }',
            "unknown time zone 'Tokyo'; write one such as",
        ),
        ("notify", 'timezones = "Asia/Tokyo"', "it is 'Asia/Tokyo'; it must be a table of texts such as"),
        ("notify", 'timezones = { "ada@[" = "Asia/Tokyo" }', "'ada@[' has a bracket that is not closed"),
        ("teams.x", 'timezone = "CEST"\nowners = ["x"]', "unknown time zone 'CEST'"),
        ("notify", 'lease = "89s"', "it is 1m29s; it must be 1m30s at least, for clocks"),
        ("notify", 'quiet = "00-24"', "it is the whole day"),
        ("notify", "flood = 0", "it is 0; it must be"),
        ("notify", 'report = "report.example.com"', "'report.example.com' is not a valid URL"),
        ("notify", 'report = "javascript:alert(1)"', "'javascript:alert(1)' is not a valid URL"),
        ("notify", 'first_backoff = "2h"', "it is longer than longest_backoff, 1h"),
        ("teams.x", "owners = []", "it is empty"),
        ("teams.x", 'email = "me"\nowners = ["x"]', "'me' is not a valid email address"),
        ("governance", 'ops = "ops"', "'ops' is not a valid email address; write one"),
        ("governance", 'ops = "a@x.org, b@x.org"', "'a@x.org, b@x.org' is not a valid email address"),
        ("governance", 'ops = "Ops <a@x.org>"', "'Ops <a@x.org>' is not a valid email address"),
        (
            "governance.calendar",
            "holidays = [2026-12-25T00:00:00Z, 10:00:00]",
            "it is [2026-12-25 00:00:00+00:00, 10:00:00]; it must be a list, each of them a day such as",
        ),
        ("ceilings.idle", 'act = "119m"', "it is 1h59m, stricter than the policy's own 2h"),
        ("ceilings.idle", "threshold = 6", "it is 6, stricter than the policy's own 5"),
        ("ceilings.orphan", 'mode = "observe"', "no job can change it"),
        ("ceilings.idle", 'actt = "4h"', "unknown value; did you mean `act`?"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_with_what_is_allowed(faults, table, line, says):
    """The first value of each line is the one that is refused."""
    place = f"{table}.{line.partition(' ')[0]}"
    found = faults(f"{GOOD}[{table}]\n{line}")
    assert any(fault.startswith(f"{place}: {says}") for fault in found), found


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('until = "soon"', "until: it is 'soon'; it must be a day such as 2026-12-31"),
        ("until = 2026-12-31T10:00:00Z", "until: it is 2026-12-31 10:00:00+00:00; it must be a day"),
        ('rules = ["idel"]', "rules: there is no rule 'idel'; did you mean `idle`?"),
        ('owner = ""', "owner: '' can never match"),
    ],
)
def test_an_exemption_is_read_as_carefully(faults, line, says):
    """Which of several it is stands in the message."""
    good = '[[governance.exemptions]]\nowner = "a"\nuntil = 2026-12-31\nwhy = "w"\n'
    found = faults(f"{GOOD}{good}[[governance.exemptions]]\n{line}")
    assert any(fault.startswith(f"governance.exemptions[1].{says}") for fault in found), found


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ('[teams.x.rules.idel]\nact = "3h"', "idel: unknown rule; did you mean `idle`?"),
        ('[teams.x.rules.idle]\nat = "3h"', "idle.at: unknown value; did you mean `act`?"),
        ("[teams.x.rules.idle]\nact = 3", f"idle.act: it is the bare number 3; {BARE}"),
        ('[teams.x.rules.idle]\nact = "1h"', "idle.warn: the last is 1h45m; it must be before act, 1h"),
        ('[teams.x.rules.idle]\nact = "241m"', "idle.act: it is 4h1m, beyond the ceiling of 4h"),
    ],
)
def test_a_team_is_held_against_policy_and_ceiling(faults, rules, says):
    """What a team says must fit with what it leaves to the policy."""
    text = f'{GOOD}[ceilings.idle]\nact = "4h"\n[teams.x]\nowners = ["x"]\n{rules}'
    assert f"teams.x.rules.{says}" in faults(text)


@pytest.mark.parametrize(
    "text",
    [
        '[recovery]\nlease = "3m"',
        '[stall]\nafter = "1s"\ncpu_at_rest = 100',
        "[stall]\ncpu_at_rest = 0",
        "[idle]\ncoverage = 1.0\nlooks = 1",
        '[idle]\nremedy = "stop"\n[orphan]\nremedy = "stop"\n[leftover]\nremedy = "delete"',
        '[stall]\nremedy = "delete"\n[compliance]\nremedy = "stop"',
        '[idle]\nwarn = ["1h", "119m"]\ngrace = "1h"',
        "[job_cap]\nwarn = [0.99]\nbudget = 9.0\ndearest = 9.0",
        '[job_cap]\nmax_runtime = "1d"\nlongest = "1d"',
        "[governance]\nblast_share = 1.0\nblast_count = 1",
        '[governance.calendar]\nhours = "22-06"\ndays = ["sun"]\ntimezone = "Europe/Berlin"',
        '[early_stop]\nmetric = "val"\npatience = 1\nover = { a = 1, b = -2.5 }\nunder = { a = 1 }',
        '[compliance]\nregions = ["us-*", "europe-west4"]\nprovisioning = ["SPOT"]',
        '[compliance]\nmachine_types = ["a2-[12]*"]\nlabels = ["cost-center"]',
        '[teams.x]\nowners = ["x"]\n[teams.x.rules.idle]\nact = "4h"\n[ceilings.idle]\nact = "4h"',
        '[ceilings.idle]\nact = "2h"\nthreshold = 5',
        '[ceilings.job_cap]\nremedy = "none"',
        '[notify]\nquiet = "00-23:59"\ndaily_at = "23:59"\nlease = "90s"\nflood = 1\nreport = "https://x.org/"',
    ],
)
def test_what_is_just_allowed_is_taken(read, text):
    """The other side of each limit."""
    assert read(GOOD + text).version == "1"


def test_every_fault_is_named_at_once(faults):
    """Whoever mends a policy does not learn of the second fault from the second refusal."""
    text = """
        versoin = "1"
        [recovery]
        lease = "179s"
        max_restarts = "many"
        [governance.calendar]
        timezone = "Mars"
        hours = 9
        [idle]
        act = 2
        threshold = 101
        [job_cap]
        warn = [2]
        [teams.x]
        owners = [""]
        email = 3
        [ceilings.idle]
        mode = "observe"
        [[governance.exemptions]]
        owner = " "
        until = "soon"
    """
    places = [fault.partition(":")[0] for fault in faults(text)]
    assert sorted(places) == [
        "ceilings.idle.mode",
        "governance.calendar.hours",
        "governance.calendar.timezone",
        "governance.exemptions[0].owner",
        "governance.exemptions[0].until",
        "governance.exemptions[0].why",
        "idle.act",
        "idle.threshold",
        "job_cap.warn",
        "recovery.lease",
        "recovery.max_restarts",
        "teams.x.email",
        "teams.x.owners",
        "version",
        "versoin",
    ]


def test_a_value_that_cannot_be_read_blames_no_other(faults):
    """With `act` unreadable nobody knows whether the warnings come before it."""
    assert len(faults(GOOD + '[idle]\nact = "soon"\nwarn = ["1h", "9h"]')) == 1
    assert len(faults(GOOD + '[idle]\nact = "soon"\n[ceilings.idle]\nact = "1h"')) == 1


def test_durations_are_what_they_say(read):
    """Two days are forty-eight hours, wherever they stand; a text that looks like a time stays one."""
    policy = read('version = "2d"\n[leftover]\nafter = "2d"\n[idle]\nwarn = ["1h30m"]')
    assert policy.version == "2d"
    assert policy.leftover.after == timedelta(hours=48)
    assert policy.idle.warn == (timedelta(minutes=90),)
    assert msgspec.structs.replace(policy, version="1").teams == {}


def test_a_file_is_understood_once_as_long_as_it_is_the_same(read, monkeypatch):
    """An event of a storm costs a millisecond; to understand the policy takes three."""
    understood = []
    monkeypatch.setattr(reading, "read_document", lambda text: understood.append(text) or read_document(text))
    for text in ("first", "first", "second", "first"):
        assert read(f'version = "{text}"').version == text
    assert [text["version"] for text in understood] == ["first", "second"]
