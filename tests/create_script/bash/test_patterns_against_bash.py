"""Patterns and regular expressions, translated to RE2, match what they match in the real bash."""

import shlex
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotwarden.create_script import ScriptRefused
from spotwarden.create_script.bash.evaluator.script import run_script
from spotwarden.create_script.request.command import Unknown
from tests.long import examples

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed: ours is not held against it")

SIGNS = st.sampled_from(["a", "b", "c", "-", "é", ".", "\\*", "]", "^", "(", ")", "|", "{"])
SETS = st.sampled_from(
    [
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[]a]",
        "[!]a]",
        "[a-]",
        "[-a]",
        "[a\\]b]",
        "[[:alpha:]]",
        "[![:space:]b]",
        "[.é]",
        "[",
        "[a",
        "[!",
        "[[:digit:][:upper:]a]",
        "[\\!a]",
        "[*?]",
    ]
)
PLAIN = st.lists(st.one_of(SIGNS, SETS, st.sampled_from(["*", "?", "**"])), max_size=4).map("".join)


def _groups(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bodies = st.lists(inner, min_size=1, max_size=3).map("|".join)
    group = st.builds("{}({})".format, st.sampled_from("@?*+"), bodies)
    return st.lists(st.one_of(inner, group), min_size=1, max_size=3).map("".join)


INSIDE = st.lists(
    st.one_of(st.sampled_from(["a", "b", "c", "é", "?", "*"]), SETS.filter(lambda text: text[-1:] == "]")),
    max_size=3,
).map("".join)
EXTENDED = st.recursive(INSIDE, _groups, max_leaves=6)
INVERTED = st.builds("!({})".format, st.lists(EXTENDED, min_size=1, max_size=3).map("|".join))
TEXTS = st.text(st.sampled_from("aaabbc-é.*]^(|{"), max_size=7)
SHORT_TEXTS = st.text(st.sampled_from("aaabbcé"), max_size=7)
QUESTIONS = {
    "==": "if [[ $t == $p ]]; then gcloud y; else gcloud n; fi",
    "case": "case $t in $p) gcloud y;; *) gcloud n;; esac",
    **{sign: f'gcloud "${{t{sign}$p}}"' for sign in ("#", "##", "%", "%%")},
    **{sign: f'gcloud "${{t{sign}$p/<>}}"' for sign in ("/", "//", "/#", "/%")},
    "=~": 'if [[ $t =~ $p ]]; then gcloud y "${BASH_REMATCH[@]}"; else gcloud n; fi',
    "each": 'gcloud "${t^^$p}"',
}
UNSURE = "\x02"


def _script(question: str, pattern: str, text: str, *, extended: bool) -> str:
    option = "shopt -s extglob" if extended else ":"
    return f"t={shlex.quote(text)}; p={shlex.quote(pattern)}; {option}\n{QUESTIONS[question]}\n"


def _ours(script: str) -> list[str] | None:
    """The words that reach gcloud; None where the script is refused."""
    try:
        command = run_script(script.encode(), files={}, environment={}).commands[-1]
    except ScriptRefused:
        return None
    return [UNSURE if isinstance(word.value, Unknown) else word.value for word in command.words[1:]]


def _bash(script: str) -> list[str]:
    recorder = 'gcloud() { printf "%s\\0" "$@"; }\n'
    assert BASH is not None
    done = subprocess.run(
        [BASH, "-c", recorder + script],
        env={"LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
        timeout=30,
    )
    return done.stdout.decode().split("\0")[:-1]


def _same(script: str) -> bool:
    """Whether ours is refused or as bash has it; what is unsure may be anything."""
    ours = _ours(script)
    if ours is None:
        return True
    theirs = _bash(script)
    return len(ours) == len(theirs) and all(
        mine in (UNSURE, other) for mine, other in zip(ours, theirs, strict=True)
    )


against_bash = settings(
    max_examples=examples(450), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
GLOBS = st.sampled_from([question for question in QUESTIONS if question != "=~"])


@against_bash
@given(question=GLOBS, pattern=PLAIN, text=TEXTS)
def test_patterns_match_what_they_match_in_bash(question: str, pattern: str, text: str):
    """Stars, question marks and sets, each way in which a script can ask for a match."""
    assert _same(_script(question, pattern, text, extended=False))


@against_bash
@given(question=GLOBS, pattern=EXTENDED, text=SHORT_TEXTS)
def test_extended_patterns_match_what_they_match_in_bash(question: str, pattern: str, text: str):
    """Groups within groups, repeated or not."""
    assert _same(_script(question, pattern, text, extended=True))


@against_bash
@given(question=st.sampled_from(["==", "case"]), pattern=INVERTED, text=SHORT_TEXTS)
def test_an_inverted_pattern_matches_what_it_matches_in_bash(question: str, pattern: str, text: str):
    """`!(…)` around a whole pattern."""
    assert _same(_script(question, pattern, text, extended=True))


@against_bash
@given(question=GLOBS, pattern=EXTENDED, text=SHORT_TEXTS)
def test_groups_are_plain_text_unless_the_script_has_switched_them_on(question: str, pattern: str, text: str):
    """But for `[[`, where bash always knows them."""
    assert _same(_script(question, pattern, text, extended=False))


ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "ab",
        "é",
        ".",
        "[ab]",
        "[^a]",
        "[a-c]",
        "[]b]",
        "[^]a]",
        "[[:alpha:]]",
        "[\\a]",
        "\\.",
        "\\(",
        "\\w",
        "\\S",
        "\\d",
        "-",
        "{",
        "}",
        "]",
        ")",
    ]
)
REPEATS = st.sampled_from(
    ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "{0}", "{1,}", "**", "+?", "{x}"]
)


def _parts(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    branch = st.lists(st.builds("{}{}".format, inner, REPEATS), max_size=3).map("".join)
    bodies = st.lists(branch, min_size=1, max_size=2).map("|".join)
    return st.one_of(branch, st.builds("({})".format, bodies), st.builds("({})".format, branch))


EXPRESSIONS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "^"]),
    st.recursive(ATOMS, _parts, max_leaves=6),
    st.sampled_from(["", "$"]),
)


@against_bash
@given(expression=EXPRESSIONS, text=st.text(st.sampled_from("aaabbcé.(-"), max_size=8))
def test_expressions_match_what_they_match_in_bash(expression: str, text: str):
    """Whether, what, and with which parts in BASH_REMATCH as far as these are certain."""
    assert _same(_script("=~", expression, text, extended=False))


@against_bash
@given(
    expression=st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "^"]),
        st.lists(
            st.builds(
                "{}{}".format,
                st.one_of(
                    ATOMS, st.sampled_from(["(a)", "(ab)", "(a*)", "(.)", "(b?)", "([ab]+)", "(.*)", "()"])
                ),
                REPEATS,
            ),
            max_size=5,
        ).map("".join),
        st.sampled_from(["", "$"]),
    ),
    text=st.text(st.sampled_from("aaabbc"), max_size=8),
)
def test_the_parts_of_expressions_are_those_of_bash(expression: str, text: str):
    """One group behind the other, where what each matches is certain."""
    assert _same(_script("=~", expression, text, extended=False))


@pytest.mark.parametrize(
    ("question", "pattern", "text"),
    [
        ("=~", "ab|abcd", "abcd"),
        ("##", "@(a|ab)", "abc"),
        ("//", "@(a|ab)", "abcab"),
        ("#", "@(ab|a)", "abc"),
    ],
)
def test_the_longest_of_several_matches_is_taken_where_bash_takes_it(question: str, pattern: str, text: str):
    """POSIX's rule, not Perl's, where the first would do."""
    script = _script(question, pattern, text, extended=True)
    assert _ours(script) == _bash(script)


@pytest.mark.parametrize(
    "pattern", ["*@()", "*@(x|)", "*+()", "**@(|x)", "*?(x)@()", "*?@()", "@(*@())", "*@(*)", "!(a|*@())"]
)
@pytest.mark.parametrize("text", ["", "a", "xab"])
def test_a_group_that_may_be_empty_behind_a_star_is_refused(pattern: str, text: str):
    """There bash does not match what it matches as nothing; `*@(.py|.sh)` is understood."""
    assert _ours(_script("==", pattern, text, extended=True)) is None
    assert _ours(_script("==", "*@(.py|.sh)", "a.sh", extended=True)) == ["y"]
