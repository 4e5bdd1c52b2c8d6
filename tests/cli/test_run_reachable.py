"""Inputs that lie in a bucket: those that are not there are found before anything is sent."""

import pytest

PLAIN = ("run", "--job", "job", "--machine", "e2-small", "--zone", "us-central1-a", "--no-follow")
COMMAND = ("--", "python", "train.py")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty folder, in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing/", "nothing is below it. To see what is there: gcloud storage ls gs://"),
        ("data/nothing", "there is no such object. To see what is there: gcloud storage ls gs://"),
        ("data", "it is a folder, so its address must end with a slash"),
    ],
)
def test_an_input_that_is_not_there_is_refused_with_what_to_type(workstation, here, name, says):
    """Neither is anything stored, nor a script written."""
    workstation.store.write("data/a.csv", b"1", generation=0)
    said = workstation.refused(*PLAIN, "--input", f"gs://{workstation.bucket}/{name}", *COMMAND)
    assert says in said
    assert "nothing was sent" in said
    assert [entry.name for entry in workstation.store.entries("")] == ["data/a.csv"]
    assert not (here / ".spotwarden").exists()


def test_an_input_of_a_bucket_that_is_not_there_is_refused(workstation):
    """By the bucket's name, which is what is mistyped."""
    said = workstation.refused(*PLAIN, "--input", "gs://no-such-bucket/data/", *COMMAND)
    assert "there is no bucket 'no-such-bucket'" in said


@pytest.mark.parametrize("name", ["data/", "data/a.csv"])
def test_an_input_that_is_there_is_no_word_worth(workstation, here, name):
    """The launch goes on, to what it asks of Compute Engine next."""
    workstation.store.write("data/a.csv", b"1", generation=0)
    said = workstation.refused(*PLAIN, "--input", f"gs://{workstation.bucket}/{name}", *COMMAND)
    assert "--input" not in said
    assert (here / ".spotwarden").exists()
