"""smart_open, which gensim and many a data pipeline read with."""

from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

pytestmark = asked

PROGRAM = f"""{OPERATION}
from google.cloud import storage
from smart_open import open

storage.Client().create_bucket("corpus")

@operation
def write_and_read_text():
    with open("gs://corpus/a.txt", "w") as file:
        file.write("one\\ntwo\\n")
    with open("gs://corpus/a.txt") as file:
        assert [*file] == ["one\\n", "two\\n"]

@operation
def write_in_parts_and_seek():
    with open("gs://corpus/large", "wb", transport_params={{"min_part_size": 2**20}}) as file:
        for number in range(5):
            file.write(bytes([number]) * 700_000)
    with open("gs://corpus/large", "rb") as file:
        file.seek(2_800_000)
        assert file.read(3) == bytes([4] * 3)

@operation
def compress():
    with open("gs://corpus/a.gz", "wb") as file:
        file.write(b"squeezed" * 1000)
    with open("gs://corpus/a.gz", "rb") as file:
        assert file.read() == b"squeezed" * 1000

@operation
def what_is_not_there_is_refused():
    try:
        open("gs://corpus/nothing")
    except Exception as error:
        assert "404" in str(error) or "not" in str(error).lower(), error
    else:
        raise AssertionError("it was opened")
"""


def test_smart_open_does_what_is_expected(cloud, home):
    """By google-cloud-storage, which goes by STORAGE_EMULATOR_HOST."""
    wanted = expected("smart_open")
    python = venv("smart_open", wanted.install) / "python"
    done = play([python, "-c", PROGRAM], cloud, home)
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
