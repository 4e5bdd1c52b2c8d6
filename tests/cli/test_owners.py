"""Who is told about a job, as a person types it."""

import pytest

from spotwarden.cli.owners import owner_of

SCRIPT = "gcloud compute instances create test-vm --zone=us-central1-a --machine-type=e2-small\n"


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("ada", "ada"),
        ("team vision", "team vision"),
        (" ada@example.com ", "ada@example.com"),
        ("ada@Example.COM", "ada@example.com"),
        ("Zo\u00eb <zoe@x>", "zoe@x"),
        ("<zoe@x.org>", "zoe@x.org"),
        ('"Doe, Zo\u00eb" < zoe@x.org >', "zoe@x.org"),
    ],
)
def test_an_owner_is_a_name_or_a_bare_address(said, owner):
    """What mail programs write around an address is left out."""
    assert owner_of(said) == owner


@pytest.mark.parametrize(
    "said",
    [
        "zoe@",
        "@x",
        "Zo\u00eb <zoe>",
        "Zo\u00eb <zoe@x",
        "zoe@x, ada@x",
        "a <b@x> <c@x>",
        "zoe @x",
        "Zo\u00eb <>",
    ],
)
def test_what_no_mail_would_reach_is_refused(said):
    """Else everything about the job would go to ops, and its owner hear nothing."""
    with pytest.raises(ValueError, match="is not a valid mail address"):
        owner_of(said)


def test_commands_refuse_it_before_they_do_anything(workstation, tmp_path):
    """By the option, and by the setting."""
    script = tmp_path / "create-instance.sh"
    script.write_text(SCRIPT)
    run = ("run", "--job", "j", "--machine", "e2-small", "--zone", "us-central1-a", "--no-code")
    for words in (("submit", str(script)), (*run, "--dry-run")):
        said = workstation.refused(
            *words, "--owner", "Zo\u00eb <zoe@x", *(("--", "true") if words[0] == "run" else ())
        )
        assert "is not a valid mail address" in said
    assert workstation.store.entries("") == []
