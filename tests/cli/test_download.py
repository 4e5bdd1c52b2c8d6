"""`spotwarden download`: the bucket's bytes, whole, once, and in the folder that was named."""

import os
from pathlib import Path

import pytest

from spotwarden.cli.looking import download as command
from spotwarden.cli.looking.landing import PART, UnsafePathError, _key, safe
from spotwarden.cli.main import main
from spotwarden.layout import LogFile, MetricsFile, Output
from spotwarden.layout.outputs import object_path
from spotwarden.ports import UnansweredError
from tests.cli.logged import JOB, Speaker


@pytest.fixture
def speaker(monkeypatch, tmp_path) -> Speaker:
    """A job with some output, and an empty folder to stand in."""
    speaker = Speaker()
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    monkeypatch.chdir(tmp_path)
    speaker.put(Output(job=JOB, path="model.pt"), b"weights" * 1000)
    speaker.put(Output(job=JOB, path="eval/scores.csv"), "a,b\n")
    speaker.put(LogFile(job=JOB, node=JOB, attempt=1), "said\n")
    speaker.put(MetricsFile(job=JOB, node=JOB, attempt=1), "{}\n")
    return speaker


@pytest.fixture
def run(speaker, capsys):
    """Run `spotwarden download …` and give its output."""

    def run(*words: str) -> str:
        capsys.readouterr()
        main(["download", *(words or (JOB,))], standalone_mode=False)
        return capsys.readouterr().out

    return run


def tree(folder: str) -> dict[str, bytes]:
    """What is in a folder."""
    return {
        str(one.relative_to(folder)): one.read_bytes() for one in Path(folder).rglob("*") if one.is_file()
    }


def test_the_output_of_a_job_is_fetched_as_it_is(run):
    """Into a folder of the job's name; what was fetched is said."""
    assert run() == "2 files, 7.0 kB, in train\n"
    assert tree("train") == {"output/model.pt": b"weights" * 1000, "output/eval/scores.csv": b"a,b\n"}


def test_a_folder_may_be_named(run):
    """What is in it stays."""
    Path("results").mkdir()
    Path("results/mine.txt").write_text("mine")
    run(JOB, "results")
    assert tree("results")["mine.txt"] == b"mine"
    assert len(tree("results")) == 3


def test_logs_and_curves_come_where_they_are_wanted(run):
    """Each kind in its own folder."""
    run(JOB, "--logs", "--metrics")
    found = tree("train")
    assert found["logs/train/1.log"] == b"said\n"
    assert found["metrics/train/1.jsonl"] == b"{}\n"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--include", "*.pt"), {"output/model.pt"}),
        (("--include", "*.csv"), {"output/eval/scores.csv"}),
        (("--include", "eval/*"), {"output/eval/scores.csv"}),
        (("--exclude", "eval/*"), {"output/model.pt"}),
        (("--include", "*", "--exclude", "*.pt"), {"output/eval/scores.csv"}),
    ],
)
def test_a_part_of_the_output_can_be_chosen(run, words, names):
    """By its path below the output; what is to be left out wins."""
    run(JOB, *words)
    assert set(tree("train")) == names


def test_what_is_there_is_not_fetched_again(speaker, run):
    """By size and checksum: what was changed here, or there, is."""
    run()
    assert run() == "0 files, 0 bytes, in train; 2 were there already\n"
    Path("train/output/model.pt").write_bytes(b"WEIGHTS" * 1000)
    speaker.put(Output(job=JOB, path="eval/scores.csv"), "c,d\n")
    assert run() == "2 files, 7.0 kB, in train\n"
    assert tree("train") == {"output/model.pt": b"weights" * 1000, "output/eval/scores.csv": b"c,d\n"}


def test_an_empty_file_is_a_file(speaker, run):
    """It is there afterwards, and is not fetched twice."""
    speaker.put(Output(job=JOB, path="empty"), b"")
    run()
    assert tree("train")["output/empty"] == b""
    assert "3 were there already" in run()


def cut(speaker, monkeypatch, after: int) -> None:
    """Have the next download break off after so many bytes."""
    whole = speaker.files.download

    def broken(held, into, *, start=0, moved) -> None:
        del start, moved
        into.write(speaker.cloud.store.read(held.name).data[:after])
        monkeypatch.setattr(speaker.files, "download", whole)
        raise UnansweredError("the line was cut")

    monkeypatch.setattr(speaker.files, "download", broken)


def test_a_fetch_that_was_cut_leaves_nothing_that_looks_whole_and_goes_on(speaker, run, monkeypatch):
    """The next one asks for the rest alone."""
    cut(speaker, monkeypatch, 5000)
    with pytest.raises(Exception, match=r"1 file could not be fetched:\n  train/output/model.pt: the line"):
        run(JOB, "--include", "*.pt")
    assert not Path("train/output/model.pt").exists()
    asked = []
    download = speaker.files.download
    monkeypatch.setattr(
        speaker.files,
        "download",
        lambda *a, start=0, **k: asked.append(start) or download(*a, start=start, **k),
    )
    assert run(JOB, "--include", "*.pt") == "1 file, 2.0 kB, in train\n"
    assert asked == [5000]
    assert tree("train") == {"output/model.pt": b"weights" * 1000}


def test_a_beginning_that_is_damaged_is_fetched_anew(speaker, run, monkeypatch):
    """Its checksum tells, once all of it is there."""
    cut(speaker, monkeypatch, 5000)
    with pytest.raises(Exception, match="could not be fetched"):
        run(JOB, "--include", "*.pt")
    (part,) = Path("train/output").glob(".spotwarden-*")
    part.write_bytes(b"x" * 5000)
    run(JOB, "--include", "*.pt")
    assert tree("train") == {"output/model.pt": b"weights" * 1000}


def test_the_beginning_of_an_older_generation_is_not_gone_on_with(speaker, run, monkeypatch):
    """And is taken away."""
    cut(speaker, monkeypatch, 5000)
    with pytest.raises(Exception, match="could not be fetched"):
        run(JOB, "--include", "*.pt")
    speaker.put(Output(job=JOB, path="model.pt"), b"new" * 3000)
    run(JOB, "--include", "*.pt")
    assert tree("train") == {"output/model.pt": b"new" * 3000}


def test_an_object_that_is_written_anew_meanwhile_is_fetched_as_it_is_then(speaker, run, monkeypatch):
    """A job that runs does so; whoever writes without end is said to."""
    held = speaker.files.held

    def behind(prefix):
        found = held(prefix)
        if prefix.endswith("/"):
            speaker.put(Output(job=JOB, path="model.pt"), b"newer")
        return found

    monkeypatch.setattr(speaker.files, "held", behind)
    run()
    assert tree("train")["output/model.pt"] == b"newer"

    def ever_behind(prefix):
        found = held(prefix)
        speaker.put(Output(job=JOB, path="model.pt"), os.urandom(8))
        return found

    Path("train/output/model.pt").unlink()
    monkeypatch.setattr(speaker.files, "held", ever_behind)
    with pytest.raises(Exception, match="changed while it was read"):
        run()


@pytest.mark.parametrize(
    "path",
    [
        "../outside",
        "a/../../outside",
        "/etc/passwd",
        "a//b",
        "./a",
        "a\\..\\b",
        "a\x00b",
        "a\x1bb",
        "a/..",
        "",
    ],
)
def test_a_name_from_the_bucket_leads_nowhere_else(speaker, run, path):
    """It is named, and not written; all else is fetched."""
    with pytest.raises(UnsafePathError):
        safe(path)
    if path:
        speaker.cloud.store.write(f"train/output/{path}", b"evil", generation=None)
        with pytest.raises(Exception, match="1 file could not be fetched"):
            run()
        assert set(tree(".")) == {"train/output/model.pt", "train/output/eval/scores.csv"}


@pytest.mark.parametrize("path", ["a", "a/b.c", "...", "a..b", ".hidden", "a b", "ä"])
def test_an_ordinary_name_is_taken(path):
    """However odd."""
    assert safe(path) == path


@pytest.mark.parametrize(
    "name",
    [
        b"two\nlines",
        b"re\rturn",
        b"caf\xe9.txt",
        b"100%25",
        b"50%",
        b"%0A",
        b"-rf",
        b"a b'c\"d",
        b"\xff/\xfe",
    ],
)
def test_a_file_has_the_name_again_that_it_had_on_its_vm(speaker, run, name):
    """What Cloud Storage cannot hold stands there percent-encoded, and what only looks so does not."""
    speaker.put(Output(job=JOB, path=object_path(name)), name)
    run()
    assert (os.fsencode(Path("train/output").absolute()) + b"/" + name) in {
        os.fsencode(path.absolute()) for path in Path("train").rglob("*")
    }
    assert Path(os.fsdecode(b"train/output/" + name)).read_bytes() == name


def test_two_objects_of_one_path_are_told_of(speaker, run):
    """One of them was not written by the job kit; neither is lost without a word."""
    assert object_path(b"a%25") == "a%2525"
    speaker.put(Output(job=JOB, path="a%25"), "foreign")
    speaker.put(Output(job=JOB, path="a%2525"), "the kit's")
    with pytest.raises(Exception, match="another object has its path"):
        run()


def test_a_link_that_leads_out_of_the_folder_is_not_followed(run, tmp_path_factory):
    """A link may stand there already; one to a file is replaced, one to a folder refused."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "precious").write_text("precious")
    Path("train/output").mkdir(parents=True)
    Path("train/output/model.pt").symlink_to(outside / "precious")
    Path("train/output/eval").symlink_to(outside)
    with pytest.raises(Exception, match=r"scores\.csv: .* is a link that leads out of train"):
        run()
    assert {one.name for one in outside.iterdir()} == {"precious"}
    assert (outside / "precious").read_text() == "precious"
    assert not Path("train/output/model.pt").is_symlink()


def test_a_folder_that_stands_where_a_file_should_is_said(speaker, run):
    """An object may be called as a folder of others is."""
    speaker.put(Output(job=JOB, path="eval"), "both")
    Path("train/output/eval").mkdir(parents=True)
    with pytest.raises(Exception, match="is a folder"):
        run()
    assert Path("train/output/eval/scores.csv").exists()


def test_a_placeholder_for_a_folder_is_no_file(speaker, run):
    """Browsers make them."""
    speaker.cloud.store.write("train/output/eval/", b"", generation=None)
    run()
    assert len(tree("train")) == 2


def test_a_disk_that_is_full_is_said(speaker, run, monkeypatch):
    """Nothing that looks whole is left."""

    def full(*_args, **_more) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(speaker.files, "download", full)
    with pytest.raises(Exception, match="No space left on device"):
        run()
    assert not Path("train/output/model.pt").exists()


def test_a_dry_run_fetches_nothing(run):
    """And says what it would."""
    assert run(JOB, "--dry-run") == "train/output/eval/scores.csv  4 bytes\ntrain/output/model.pt  7.0 kB\n"
    assert not Path("train").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("nobody",), "unknown job 'nobody' in gs://b"),
        ((JOB, "--include", "*.onnx"), "no output of train matches"),
        (("Train",), "'Train' is not a valid name"),
    ],
)
def test_nothing_to_fetch_says_why(run, words, why):
    """And fails, for whoever goes on with what was fetched."""
    with pytest.raises(Exception, match=why):
        run(*words)


def test_a_job_without_output_says_so(run, speaker):
    """It may have only begun."""
    speaker.attempt(1, job="young")
    with pytest.raises(Exception, match="young has no output yet"):
        run("young")


def test_the_real_bucket_is_fetched_and_gone_on_with(workstation, tmp_path):
    """Google's own client against the local cloud: every byte, and the rest of what was cut."""
    data = os.urandom(300_000)
    workstation.store.write("train/output/a/model.pt", data, generation=0)
    workstation.store.write("train/output/empty", b"", generation=0)
    target = tmp_path / "got"
    assert "2 files, 300 kB" in workstation.ok("download", "train", str(target))
    assert tree(str(target)) == {"output/a/model.pt": data, "output/empty": b""}
    entry = next(one for one in workstation.store.entries("train/output/a/"))
    (target / "output/a/model.pt").unlink()
    part = PART.format(key=_key("model.pt"), generation=entry.generation)
    (target / "output/a" / part).write_bytes(data[:100_000])
    assert "1 file, 200 kB" in workstation.ok("download", "train", str(target))
    assert tree(str(target)) == {"output/a/model.pt": data, "output/empty": b""}
