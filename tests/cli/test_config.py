"""`spotwarden config`: whose word counts, what a file may say, and how it is changed."""

import json
import os
import tomllib

import pytest
from click.testing import CliRunner

from spotwarden.cli.configured import KNOWN, ConfigError, configured, files, project_file, settings
from spotwarden.cli.main import main


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Somebody's home and project, with nothing configured; gives the two files."""
    for known in KNOWN.values():
        monkeypatch.delenv(known.variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    work = tmp_path / "work/src"
    work.mkdir(parents=True)
    (tmp_path / "work/.git").mkdir()
    monkeypatch.chdir(work)
    return tmp_path / "xdg/spotwarden/config.toml", tmp_path / "work/.spotwarden.toml"


def write(file, text):
    """A file with this text."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def run(*words):
    """`spotwarden config …`."""
    return CliRunner().invoke(main, ["config", *words])


def held(name):
    """A setting's value and where it is from."""
    (found,) = [one for one in settings(os.environ) if one.name == name]
    return found.value, found.source


def test_the_strongest_word_counts(home, monkeypatch):
    """The user's file, then the project's, then the environment, then an option."""
    user, project = home
    assert held("bucket") == ("", "")
    write(user, 'bucket = "mine"\n')
    assert held("bucket") == ("mine", str(user))
    write(project, 'bucket = "ours"\n')
    assert held("bucket") == ("ours", str(project))
    monkeypatch.setenv("SPOTWARDEN_BUCKET", "env")
    assert held("bucket") == ("env", "SPOTWARDEN_BUCKET")
    with configured(bucket="option"):
        assert held("bucket")[0] == "option"
    assert held("bucket")[0] == "env"


def test_an_environment_that_says_nothing_says_so(home, monkeypatch):
    """Set to nothing is set: that is how one does without a prefix that a file names."""
    write(home[0], 'prefix = "users/"\n')
    assert held("prefix")[0] == "users/"
    monkeypatch.setenv("SPOTWARDEN_PREFIX", "")
    assert held("prefix") == ("", "SPOTWARDEN_PREFIX")


def test_a_command_sees_what_is_configured_and_leaves_no_trace(home):
    """The environment is as before once it has ended, also where it failed."""
    write(home[0], 'bucket = "mine"\n')
    before = dict(os.environ)
    filled = configured()
    with filled:
        assert os.environ["SPOTWARDEN_BUCKET"] == "mine"
    assert dict(os.environ) == before
    assert CliRunner().invoke(main, ["policy", "check", "/nowhere"]).exit_code == 1
    assert dict(os.environ) == before


def test_no_repository_sees_the_file_of_one_above_it(home, tmp_path):
    """The search ends at .git; outside of a repository, which may be anybody's folder, it does not go up."""
    write(tmp_path / ".spotwarden.toml", 'bucket = "strange"\n')
    assert project_file(tmp_path / "work/src") is None
    assert project_file(tmp_path / "xdg") is None
    assert project_file(tmp_path) == tmp_path / ".spotwarden.toml"
    assert files(os.environ) == [home[0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# mine\nbuckte = 'x'\n", ":2: there is no setting 'buckte'; known are project, bucket"),
        ("smtp_password = 'hush'\n", ":1: there is no setting 'smtp_password'"),
        ("\n\nworkers = 65\n", ":3: workers is '65'; it must be a number from 1 to 64"),
        ("workers = 0\n", ":1: workers is '0'"),
        ("workers = true\n", ":1: workers must be a text in quotes"),
        ("bucket = 'gs://b'\n", ":1: bucket is 'gs://b'; write its name alone"),
        ("project = 'My Project'\n", ":1: project is 'My Project'; write its ID, such as my-project-123"),
        ("notices = 'projects/p/topics/n'\n", ":1: notices is 'projects/p/topics/n'; write its name alone"),
        ("mode = 'kill'\n", ":1: mode is 'kill'; it must be observe or enforce"),
        ("prefix = '../'\n", ":1: prefix is '../'; "),
        ("owner = [1]\n", ":1: owner must be a text in quotes"),
        ('owner = "a\\nb"\n', ":1: owner must be one line"),
        ("bucket = \n", "it cannot be read: Invalid value (at line 1, column 10)"),
    ],
)
def test_a_bad_file_says_which_line_of_which_file(home, text, said):
    """And never a value that may be a secret."""
    write(home[0], text)
    with pytest.raises(ConfigError) as refused:
        settings(os.environ)
    assert str(home[0]) in refused.value.message
    assert said in refused.value.message
    assert "hush" not in refused.value.message


@pytest.mark.parametrize("workers", [1, 64])
def test_the_least_and_the_most_workers_are_taken(home, workers):
    """As a number or as a text."""
    write(home[0], f"workers = {workers}\n")
    assert held("workers")[0] == str(workers)


def test_a_bad_file_stops_commands_but_not_those_that_mend_it(home):
    """Its fault is told in a sentence."""
    write(home[0], "workers = 65\n")
    refused = CliRunner().invoke(main, ["jobs"])
    assert (refused.exit_code, "config.toml:1: workers is '65'" in refused.output) == (1, True)
    assert run("path").output.strip() == str(home[0])
    assert run("set", "workers", "8").output == "workers = 8\n"
    assert held("workers")[0] == "8"


def test_a_path_in_a_file_is_meant_from_that_files_folder(home):
    """One that is typed, from where one stands."""
    user, project = home
    write(project, 'policy = "infra/policy.toml"\n')
    assert held("policy")[0] == str(project.parent / "infra/policy.toml")
    assert run("set", "policy", "mine.toml").exit_code == 0
    assert tomllib.loads(user.read_text())["policy"] == str(project.parent / "src/mine.toml")


def test_setting_keeps_all_else_of_the_file(home):
    """Comments too; a second one replaces the first."""
    write(home[0], '# mine\nowner = "a"  # me\n\nbucket = "b"\n')
    assert run("set", "owner", 'o"x').exit_code == 0
    assert home[0].read_text() == '# mine\nowner = "o\\"x"  # me\n\nbucket = "b"\n'
    assert run("set", "project", "p").exit_code == 0
    assert tomllib.loads(home[0].read_text()) == {"owner": 'o"x', "bucket": "b", "project": "p"}
    assert run("unset", "owner").output == "owner is not set\n"
    assert run("unset", "owner").output == f"owner is not set in {home[0]}\n"
    assert list(home[0].parent.iterdir()) == [home[0]]


def test_setting_says_what_is_stronger(home, monkeypatch):
    """What was written and does not hold is no success to be silent about."""
    monkeypatch.setenv("SPOTWARDEN_BUCKET", "env")
    done = run("set", "bucket", "mine", "--here")
    assert "bucket = env" in done.output
    assert f"it comes from SPOTWARDEN_BUCKET, which overrides {home[1].parent}" in done.output
    assert (home[1].parent / "src/.spotwarden.toml").read_text() == 'bucket = "mine"\n'


def test_a_bad_value_is_refused_and_nothing_written(home):
    """Before anything is touched."""
    assert "workers is '65'" in run("set", "workers", "65").output
    assert run("set", "colour", "red").exit_code == 2
    assert not home[0].exists()


def test_get_prints_the_value_alone(home):
    """For a script; what is not set is a failure."""
    assert run("get", "bucket").exit_code == 1
    write(home[0], 'bucket = "mine"\n')
    assert run("get", "bucket").output == "mine\n"


def test_list_shows_each_with_where_it_comes_from(home, monkeypatch):
    """As a table and as JSON."""
    write(home[0], 'bucket = "mine"\n')
    monkeypatch.setenv("SPOTWARDEN_OWNER", "ada")
    rows = {row["name"]: (row["value"], row["source"]) for row in json.loads(run("list", "--json").output)}
    assert rows["bucket"] == ("mine", str(home[0]))
    assert rows["owner"] == ("ada", "SPOTWARDEN_OWNER")
    assert rows["prefix"] == ("", "")
    assert set(rows) == set(KNOWN)
    assert "not set" in run("list").output


@pytest.mark.usefixtures("home")
def test_an_option_of_the_command_is_checked_like_a_file():
    """It names the option."""
    refused = CliRunner().invoke(main, ["--bucket", "gs://b", "jobs"])
    assert refused.exit_code == 2
    assert "--bucket: bucket is 'gs://b'" in refused.output


@pytest.mark.parametrize("name", ["-jobs", "jobs.", "gs://jobs"])
def test_a_bucket_that_cannot_be_one_is_told_and_not_raised(workstation, name):
    """By option or by variable: Google's client would raise at it, with a traceback."""
    assert "bucket is" in workstation.refused("--bucket", name, "jobs")
    done = CliRunner().invoke(main, ["jobs"], env={"SPOTWARDEN_BUCKET": name})
    assert isinstance(done.exception, SystemExit)
    assert "SPOTWARDEN_BUCKET: bucket is" in done.output
