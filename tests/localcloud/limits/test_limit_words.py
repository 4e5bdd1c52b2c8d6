"""Which limits a local cloud starts with."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from localcloud.commands import main
from localcloud.limits import OFF, Limits, limited
from localcloud.serving import options


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ((), Limits()),
        (("latency_seconds=0.1",), Limits(latency_seconds=0.1)),
        (("latency_seconds=0.1", "seed=7"), Limits(latency_seconds=0.1, seed=7)),
        (("seed=7", "seed=8"), Limits(seed=8)),
        (("off",), OFF),
        (("seed=7", "off"), OFF),
        (("off", "doubled=1"), Limits(**dict.fromkeys(Limits.__struct_fields__, 0) | {"doubled": 1})),
    ],
)
def test_a_command_changes_the_usual_limits_word_by_word(words: tuple[str, ...], limits: Limits) -> None:
    """The last word about a limit holds."""
    assert limited(words, Limits()) == limits


@pytest.mark.parametrize("word", ["seed", "seed=", "=1", "speed=1", "doubled=2", "object_writes=-1", "Off"])
def test_what_is_no_limit_is_named(word: str) -> None:
    """Whoever mistyped it reads what it was."""
    with pytest.raises(ValueError, match=f"'{word}' is no limit"):
        limited([word], Limits())
    started = CliRunner().invoke(main, ["serve", "--limit", word])
    assert (started.exit_code, f"'{word}' is no limit" in started.output) == (1, True)
    told = CliRunner().invoke(main, ["story", "--once", "--limit", word])
    assert (told.exit_code, f"'{word}' is no limit" in told.output) == (1, True)


@pytest.mark.parametrize(("with_functions", "limits"), [(True, Limits()), (False, OFF)])
def test_limits_hold_where_functions_run(tmp_path: Path, *, with_functions: bool, limits: Limits) -> None:
    """The services alone have none."""
    started = options(
        project="demo",
        state=tmp_path,
        ports=(0, 0),
        metric_seconds=60,
        with_functions=with_functions,
    )
    assert started.limits == limits
