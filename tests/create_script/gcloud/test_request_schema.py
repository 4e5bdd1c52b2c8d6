"""Every request that a script was ever seen to make is one that Compute Engine's discovery document knows."""

import json
from pathlib import Path

import pytest

from localcloud.compute.schema import shapes
from localcloud.rpc.codes import RpcError
from localcloud.rpc.shapes import Shapes
from tests.create_script.gcloud.test_gcloud_probes import ORACLE, PROBES, RECORDED, name_of

MESSAGES = {"instances": "Instance", "bulkInsert": "BulkInsertInstanceResource"}
CORPUS = Path(__file__).parents[1] / "corpus"
READER = Shapes(shapes(), enum_numbers=False)


def sent_by(version, probe):
    """The requests that gcloud sent; the reader is held to these by the other tests of this folder."""
    plain = RECORDED[version]["plain"][ORACLE.command_of(probe["argv"])]
    return [ORACLE.patched(plain, patch) for patch in probe["sent"]]


def launches(requests):
    """The bodies that create VMs by v1 of the API, each with its message; others have no document here."""
    for request in requests:
        message = MESSAGES.get(request["path"].rpartition("/")[2])
        if request["method"] == "POST" and message and "/compute/v1/" in request["path"]:
            yield message, request["body"]


@pytest.mark.parametrize(
    ("version", "probe"),
    [(version, probe) for version, probe in PROBES if "sent" in probe],
    ids=lambda part: str(part) if isinstance(part, int) else name_of(part),
)
def test_a_recorded_command_line_fits_the_document(version, probe):
    """Names, types and the words of enums, at every depth."""
    for message, body in launches(sent_by(version, probe)):
        assert READER.read(message, body).keys() == body.keys()


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.json")), ids=lambda path: path.stem)
def test_a_script_of_the_corpus_fits_the_document(path):
    """So does what scripts of every kind have made."""
    for message, body in launches(json.loads(path.read_text())):
        assert READER.read(message, body).keys() == body.keys()


def test_a_field_that_the_document_does_not_know_is_found():
    """By its name, as Google's front end would refuse it."""
    with pytest.raises(RpcError, match="noSuchField"):
        READER.read("Instance", {"name": "a", "scheduling": {"noSuchField": 1}})
