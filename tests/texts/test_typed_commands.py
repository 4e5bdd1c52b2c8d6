"""What docs and README tell people to type is understood by the program that it is for."""

import subprocess
from collections.abc import Sequence

import click
import pytest

from spotwarden.cli.main import main
from spotwarden.create_script import Defaults, requests
from tests.localcloud.gcloud.commands import commands
from tests.texts.source import ROOT
from tests.texts.typed import Typed, blocks, spans

BLOCKS = [*blocks()]
SPANS = [*spans()]
STANDS_FOR = {
    "P": "my-project-123",
    "R": "us-central1",
    "B": "my-bucket",
    "RULE": "idle",
    "JOBS@P.iam.gserviceaccount.com": "jobs@my-project-123.iam.gserviceaccount.com",
}
"""What a reader writes in place of these letters."""
NOT_RUN = {
    "gcloud auth": "logs a person in, with a browser",
    "gcloud run services proxy": "needs a deployed service: the local cloud has no Cloud Run to proxy",
    "gcloud storage buckets update gs://BUCKET --lifecycle": "tests/infra checks the rules that it sends",
    "gcloud storage cp -": "reads a VM's metadata server; tests/job writes the same object",
    "curl -sSO https://dl.google.com": "installs Google's agent on a VM of Google's",
    "bash add-google-cloud-ops-agent-repo.sh": "the same",
    "curl": "asks the metadata server or the local cloud, which have tests of their own",
    "uv pip compile": "asks a package index",
    "pre-commit install": "changes the clone",
    "mkdocs serve": "does not end; tests/infra/test_docs_site.py builds the same site",
    "ruff": "a step of tests/run",
    "mypy": "a step of tests/run",
    "lint-imports": "a step of tests/run",
    "vulture": "a step of tests/run",
    "echo": "the shell's own",
    "export": "the shell's own",
    ". ": "the shell's own",
    "$EDITOR": "the reader's own",
}
"""Commands that no test runs or reads, by how they begin, and why not."""
FILES = dict.fromkeys(("startup.sh", "shutdown.sh", "command.txt"), b"x")
"""What the create commands of the pages name."""
PLAYED = "docs/tutorial.md"
"""`tests/e2e/stories/test_tutorial.py` types all of it."""


@pytest.fixture(autouse=True)
def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page names files of its reader, which are not here."""
    monkeypatch.setattr(click.Path, "convert", lambda _self, value, _param, _ctx: value)


def read(words: Sequence[str], *, whole: bool) -> None:
    """Parse a command of ours to its last option, and run nothing; some spans name an option alone."""
    command: click.Command = main
    parent = None
    rest = [STANDS_FOR.get(word, word) for word in words[1:] if word != "…"]
    while True:
        try:
            parent = command.make_context(command.name or "", rest, parent=parent)
        except click.MissingParameter:
            if whole:
                raise
            return
        except click.exceptions.Exit:
            return
        if not isinstance(command, click.Group):
            return
        rest = [*parent._protected_args, *parent.args]
        if not rest and not whole:
            return
        _, found, rest = command.resolve_command(parent, rest)
        assert found is not None
        command = found


def deploys(words: Sequence[str], *, whole: bool) -> None:
    """`./deploy.sh local` is `spotwarden local story`; `gcp` reads its arguments before anything else."""
    if words[1] == "local":
        read(["spotwarden", "local", "story", *words[2:]], whole=whole)
        return
    told = [STANDS_FOR.get(word, word) for word in words[2:]]
    if not whole and "--project" not in told:
        told += ["--project", STANDS_FOR["P"]]
    script = 'here=$PWD; say() { echo "$@" >&2; }; . infra/deploy/arguments.sh; read_arguments "$@"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *told],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr


def known(words: Sequence[str]) -> bool:
    """Whether a test runs this command of gcloud against the local cloud."""
    line = " ".join(words[1:])
    return any(line == command.name or line.startswith(f"{command.name} ") for command in commands())


def reason(words: Sequence[str]) -> str:
    """Why a command is not run here; "" where nothing says so."""
    line = " ".join(words)
    return next((why for begins, why in NOT_RUN.items() if line.startswith(begins)), "")


@pytest.mark.parametrize("typed", [*dict.fromkeys(BLOCKS)], ids=str)
def test_a_command_of_a_block_is_read_by_its_program_or_says_why_not(typed: Typed) -> None:
    """By our own parsers whole; of others' commands each is run by a test, or listed with a reason."""
    words = typed.words
    match words[0]:
        case "spotwarden":
            read(words, whole=True)
        case "./deploy.sh":
            deploys(words, whole=True)
        case "tests/run" | ".ci/run":
            assert all((ROOT / word).exists() for word in words[1:] if word.startswith("tests/"))
        case "python":
            assert (ROOT / words[1]).is_file() or typed.page == PLAYED
        case "gcloud" if words[1:4] == ("compute", "instances", "create"):
            assert requests(" ".join(words).encode(), defaults=Defaults(project="demo-project"), files=FILES)
        case _:
            assert known(words) or reason(words) or typed.page == PLAYED, str(typed)


@pytest.mark.parametrize("typed", [*dict.fromkeys(SPANS)], ids=str)
def test_a_command_within_a_sentence_names_what_there_is(typed: Typed) -> None:
    """Its commands and options; a sentence may leave out the rest."""
    if typed.words[0] == "./deploy.sh":
        deploys(typed.words, whole=False)
    else:
        read(typed.words, whole=False)


@pytest.mark.parametrize(
    "words",
    [
        ["spotwarden", "jbos"],
        ["spotwarden", "jobs", "--stauts", "running"],
        ["spotwarden", "cases", "kep"],
        ["spotwarden", "logs"],
    ],
    ids=" ".join,
)
def test_a_command_that_there_is_not_is_found(words: list[str]) -> None:
    """Else the tests above hold nothing."""
    with pytest.raises(click.UsageError):
        read(words, whole=True)


def test_an_option_of_the_deployment_that_there_is_not_is_found() -> None:
    """Its own words say which."""
    with pytest.raises(AssertionError, match="--plann"):
        deploys(["./deploy.sh", "gcp", "--project", "P", "--plann"], whole=True)


def test_the_pages_are_found_and_every_reason_is_used() -> None:
    """A page written in another way would be held by nothing, and a reason that no page needs is none."""
    assert len(BLOCKS) > 100
    assert len(SPANS) > 60
    lines = [" ".join(typed.words) for typed in BLOCKS]
    assert [begins for begins in NOT_RUN if not any(line.startswith(begins) for line in lines)] == []
