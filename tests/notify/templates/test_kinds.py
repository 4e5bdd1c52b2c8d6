"""The kinds of notices: each is registered, has a sample, and fits the schema that teams read."""

import ast
from datetime import timedelta
from pathlib import Path

import jsonschema
import msgspec
import pytest

import spotwarden
from spotwarden.cli import samples as sampled
from spotwarden.cli.samples import samples
from spotwarden.model.notice import Notice
from spotwarden.model.policy import RULES
from spotwarden.notify.templates.kinds import KINDS
from spotwarden.notify.templates.schema import schema
from tests.notify.templates.messages import ANN, NOW, flood, message, pending, post
from tests.notify.templates.write_notice_docs import pages

PACKAGE = Path(spotwarden.__file__).parent
ROOMS = {
    "notices": "recovery/telling/notices.py",
    "delay_notices": "recovery/telling/delay_notices.py",
    "gang_notices": "recovery/telling/gang_notices.py",
    "name_notices": "recovery/telling/name_notices.py",
    "case_notices": "governance/cases/notices.py",
    "recipients": "notify/outbox/recipients.py",
    "ops_notices": "governance/cases/ops_notices.py",
    "tidying": "notify/outbox/tidying.py",
    "silence": "governance/silence.py",
    "weekly": "report/figures/weekly.py",
}
"""What the samples call the rooms where notices are made, with where these are."""
ALL = samples("1", to=ANN, at=NOW)


def producers():
    """Every function of ours that makes a notice, with its room."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(map(makes_notice, ast.walk(node))):
                yield path.relative_to(PACKAGE).as_posix(), node.name


def makes_notice(node):
    """Whether it is a call that gives a notice its kind, or another one than it had."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    kinds = [one.value for one in node.keywords if one.arg == "kind"]
    again = node.func.id == "replace" and any(isinstance(kind, ast.Constant) for kind in kinds)
    return again or (node.func.id in {"Notice", "case_notice"} and bool(kinds))


def test_every_producer_has_a_sample():
    """Whoever adds a notice adds its sample; the rooms are known, and nobody makes notices elsewhere."""
    tree = ast.parse(Path(sampled.__file__).read_text(encoding="utf-8"))
    called = {
        (ROOMS[node.value.id], node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ROOMS
    }
    assert set(producers()) == called
    assert len(called) == 28


def test_every_kind_is_registered_and_has_one_sample():
    """The table of kinds is whole, and holds none that nobody tells."""
    assert sorted(one.kind for one in ALL) == sorted(KINDS)


@pytest.mark.parametrize("rule", [*RULES])
def test_every_rule_has_its_five_kinds(rule):
    """Warned, unknown, acted upon, cleared, and a remedy that fails."""
    assert {kind for kind in KINDS if kind.rpartition("_")[0] == rule} == {
        f"{rule}_{phase}" for phase in ("warning", "unknown", "acted", "cleared", "failing")
    }


@pytest.mark.parametrize("sample", ALL, ids=lambda one: one.kind)
def test_a_sample_is_of_a_registered_severity_and_for_whom_it_is_asked(sample):
    """It names itself a test, in its id and in what people read."""
    assert sample.severity in KINDS[sample.kind].severities
    assert sample.id == f"test/1/{sample.kind}"
    assert sample.owner == ANN
    made = message(pending(sample))
    assert made.subject.startswith("[test] ")
    assert len(made.subject) <= 60
    assert "This is a test message" in made.text
    assert "This is a test message" in made.html


def test_samples_are_the_same_for_one_giver_and_others_for_another():
    """Their ids tell two tests apart, and a test told twice is one."""
    again = samples("1", to=ANN, at=NOW + timedelta(hours=1))
    other = samples("2", to=ANN, at=NOW)
    assert [one.id for one in again] == [one.id for one in ALL]
    assert not {one.id for one in other} & {one.id for one in ALL}


def test_the_samples_together_offer_every_way_to_answer():
    """Whoever tries the messages sees each of the links."""
    offered = {way.value for one in ALL for way in one.ways}
    assert offered == {"keep", "extend", "stop", "restart", "approve"}


@pytest.fixture(scope="module")
def fits():
    """Holds a value against the schema, or against a part of it."""
    whole = schema()
    jsonschema.Draft202012Validator.check_schema(whole)

    def check(value, part="Notice"):
        one = {**whole, "$ref": f"#/$defs/{part}"}
        validator = jsonschema.Draft202012Validator(one, format_checker=jsonschema.FormatChecker())
        return [error.message for error in validator.iter_errors(value)]

    return check


def test_every_sample_fits_the_schema(fits):
    """As the topic carries it."""
    for one in ALL:
        assert fits(msgspec.json.decode(msgspec.json.encode(one))) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"severity": "loud"}, "'loud' is not one of"),
        ({"due": 7}, "7 is not valid"),
        ({"evidence": {"a": 1}}, "1 is not of type 'string'"),
        ({"ways": ["explode"]}, "'explode' is not one of"),
        ({"job": None}, "None is not of type 'string'"),
    ],
)
def test_what_is_no_notice_does_not_fit(fits, change, fault):
    """The schema tells a wrong value from a right one."""
    (said,) = fits({**msgspec.json.decode(msgspec.json.encode(ALL[0])), **change})
    assert fault in said


def test_the_schema_demands_what_a_notice_cannot_be_without(fits):
    """What is left out of an encoded notice has a default, and nothing else has."""
    assert len(fits({})) == 7
    assert len(Notice.__struct_fields__) - len(Notice.__struct_defaults__) == 7


def test_a_plain_post_fits_the_schema(fits):
    """What a team's own receiver gets."""
    body = msgspec.json.decode(post("json", *flood(3)))
    assert fits(body, "Post") == []
    assert fits({**body, "schema": 2}, "Post") != []


@pytest.mark.parametrize(("path", "text"), [*pages()], ids=lambda one: getattr(one, "name", "text"))
def test_the_pages_made_from_the_code_are_up_to_date(path, text):
    """Otherwise write them: `python -m tests.notify.templates.write_notice_docs`."""
    assert path.read_text(encoding="utf-8") == text
