"""Scripts put together at random: still the words that bash gives."""

import shlex
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spotwarden.create_script.refusal import ScriptRefused
from tests.long import examples

NAMES = st.sampled_from(["x", "y", "z", "unset"])
PLAIN = st.text(st.sampled_from("abc-.:=,@%+^#_0127"), min_size=1, max_size=6).filter(
    lambda text: text[0] not in "#="
)
INSIDE = st.text(st.sampled_from("ab *?[]{},;|&<>()~!#'\t="), max_size=6)
PATTERN = st.sampled_from(["*", "?", "a*", "*b", "[ab]", "[!a]", "a", "*.", ".*", "b?", "[[:alpha:]]", "'*'"])
NUMBER = st.integers(-9, 20)


def _single(text: str) -> str:
    return "'" + text.replace("'", "") + "'"


def _operators(name: str) -> st.SearchStrategy[str]:
    return st.one_of(
        st.just(f"${{{name}}}"),
        st.builds(
            lambda sign, word: f"${{{name}{sign}{word}}}", st.sampled_from([":-", "-", ":+", "+"]), PLAIN
        ),
        st.builds(
            lambda sign, cut: f"${{{name}{sign}{cut}}}", st.sampled_from(["#", "##", "%", "%%"]), PATTERN
        ),
        st.builds(
            lambda sign, old, new: f"${{{name}{sign}{old}/{new}}}",
            st.sampled_from(["/", "//", "/#", "/%"]),
            PATTERN,
            st.sampled_from("xyz_"),
        ),
        st.builds(lambda start, size: f"${{{name}: {start}:{size}}}", NUMBER, st.integers(0, 4)),
        st.builds(lambda sign: f"${{{name}{sign}}}", st.sampled_from(["^", "^^", ",", ",,"])),
        st.just(f"${{#{name}}}"),
    )


ARITHMETIC = st.builds(
    lambda one, sign, other: f"$(( {one} {sign} {other} ))",
    NUMBER,
    st.sampled_from(["+", "-", "*", "<", "==", "&", "<<", "&&"]),
    st.integers(0, 9),
)
ELEMENTS = st.sampled_from(["0", "1", "@", "*", "5"]).map(lambda index: f"${{arr[{index}]}}")


def parameters() -> st.SearchStrategy[str]:
    """`$x` or `${x…}`, an element of an array, or a number computed."""
    return st.one_of(NAMES.flatmap(_operators), ELEMENTS, ARITHMETIC)


def _double(parts: list[str]) -> str:
    return '"' + "".join(parts) + '"'


SAFE_IN_DOUBLE = INSIDE.filter(lambda text: "!" not in text)
PIECES = st.one_of(
    PLAIN,
    INSIDE.map(_single),
    st.lists(st.one_of(SAFE_IN_DOUBLE, parameters()), max_size=3).map(_double),
    parameters(),
    st.sampled_from(["\\ ", "\\*", "\\'", "{a,b}", "{1..3}", "{x,}", "$'\\t'", "*", "[a]"]),
)
WORDS = st.lists(PIECES, min_size=1, max_size=3).map("".join)
CALLS = st.lists(WORDS, min_size=1, max_size=4).map(lambda words: "gcloud " + " ".join(words))
ASSIGNMENTS = st.builds(
    lambda name, plus, word: f"{name}{plus}={word}", st.sampled_from("xyz"), st.sampled_from(["", "+"]), WORDS
)
ARRAYS = st.lists(WORDS, max_size=3).map(lambda words: f"arr=({' '.join(words)})")
CONDITIONS = st.one_of(
    st.sampled_from(["true", "false", "! true"]),
    st.builds(
        lambda a, o, b: f'[ "{a}" {o} "{b}" ]', parameters(), st.sampled_from(["=", "!="]), parameters()
    ),
    st.builds(lambda a, p: f"[[ {a} == {p} ]]", parameters(), PATTERN),
    st.builds(lambda a: f"[[ -n {a} ]]", parameters()),
)


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("\n".join),
        st.builds(lambda c, a, b: f"if {c}; then\n{a}\nelse\n{b}\nfi", CONDITIONS, inner, inner),
        st.builds(lambda c, o, a: f"{c} {o} {{ {a}\n}}", CONDITIONS, st.sampled_from(["&&", "||"]), inner),
        st.builds(
            lambda words, a: f"for x in {' '.join(words)}; do\n{a}\ndone", st.lists(WORDS, max_size=3), inner
        ),
        st.builds(
            lambda w, p, a: f"case {w} in {p}) {a}\n;; *) gcloud other;; esac", parameters(), PATTERN, inner
        ),
        st.builds(lambda a: f"( {a}\n)", inner),
        st.builds(lambda a, w: f"f() {{ local y=$1; {a}\n}}; f {w} 2", inner, WORDS),
        st.builds(
            lambda t: f'read -r x y <<< "{t}"\ngcloud "$x" "$y"',
            st.text(st.sampled_from("ab \t:"), max_size=8),
        ),
        st.builds(
            lambda i, a: f"IFS={i}\n{a}\nunset IFS", st.sampled_from(["','", "' :'", "''", ":"]), inner
        ),
    )


SCRIPTS = st.lists(
    st.recursive(st.one_of(CALLS, ASSIGNMENTS, ARRAYS), _blocks, max_leaves=6), min_size=1, max_size=4
).map("\n".join)


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=SCRIPTS)
def test_generated_scripts_give_the_words_that_bash_gives(
    text: str, ours: Callable[..., list[list[str]]], bash: Callable[..., list[list[str]]]
):
    """Quotes, expansions, branches and loops in any mixture come out as in bash."""
    script = f"x='a b' y=a.b.c; arr=(p 'q r')\n{text}\ngcloud end\n".encode()
    try:
        words = ours(script, {})
    except ScriptRefused as refused:
        # Loops that double a value at each turn: bash has no budget.
        assert "grow beyond" in str(refused)
        return
    assert words == bash(script, {})


ARGUMENT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(ARGUMENT, max_size=6))
def test_quoted_words_are_those_words_again(words: list[str], ours: Callable[..., list[list[str]]]):
    """A plain script of quoted arguments, as `resolve` writes it, loses and gains nothing."""
    assert ours(f"gcloud x {shlex.join(words)}\n".encode(), {}) == [["x", *words]]
