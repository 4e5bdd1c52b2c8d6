"""What is dear and not needed is imported when somebody asks for it, and works then as ever."""

import json
import subprocess
import sys

SCRIPT = """
import gc, json, sys
from spotwarden.gcp import connect
from spotwarden.gcp.deferred import DEFERRED, defer
cloud = connect(project="demo", bucket="b", topic="t", compute_endpoint="http://127.0.0.1:9")
{use}
"""
OPEN = "cloud.store.entries; cloud.compute.instances; cloud.metrics.gpus; cloud.notices.publish\n"
DEAR = ("charset_normalizer.api", "cryptography", "google.protobuf.descriptor", "grpc")


def said(use: str) -> object:
    """What a fresh process prints after that."""
    script = SCRIPT.format(use=use)
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_the_whole_cloud_is_opened_without_what_no_sweep_needs():
    """Neither cryptography nor protobuf is run; gRPC, which is here for the tests only, is hidden."""
    hidden = "sys.modules['grpc'] = None\n"
    found = said(hidden + OPEN + f"print(json.dumps([one for one in {DEAR} if sys.modules.get(one)]))")
    assert found == []


def test_every_deferred_module_is_one_that_the_libraries_have():
    """A name that a new version has moved would defer nothing, unnoticed."""
    use = "print(json.dumps([one for one in DEFERRED if type(sys.modules[one]).__name__ != '_Deferred']))"
    assert said(OPEN + use) == []


def test_who_signs_finds_all_of_it():
    """A developer with a key file instead of a metadata server."""
    use = (
        "from google.auth import crypt, jwt\n"
        "from google.oauth2 import service_account\n"
        "print(json.dumps([crypt.RSASigner.__module__, crypt.EsSigner.__module__, jwt.encode.__module__,"
        " issubclass(crypt.RSASigner, crypt.Signer), 'cryptography' in sys.modules]))"
    )
    found = said(OPEN + use)
    assert found == [
        "google.auth.crypt.rsa",
        "google.auth.crypt.es",
        "google.auth.jwt",
        True,
        True,
    ]


def test_who_speaks_grpc_finds_its_errors():
    """Google's own clients beside ours, as the tests of the local cloud use them."""
    use = (
        "from google.cloud import pubsub_v1\n"
        "from google.rpc import error_details_pb2\n"
        "from google.protobuf.timestamp_pb2 import Timestamp\n"
        "print(json.dumps([error_details_pb2.ErrorInfo(reason='x').reason, Timestamp(seconds=3).seconds]))"
    )
    assert said(OPEN + use) == ["x", 3]


def test_a_text_that_does_not_say_its_encoding_is_still_guessed():
    """An error page of a proxy, say."""
    use = (
        "import requests\n"
        "answer = requests.Response()\n"
        "answer._content = 'Grüße aus dem Büro, schöne Tage'.encode('utf-8')\n"
        "print(json.dumps(answer.text))"
    )
    assert said(OPEN + use) == "Grüße aus dem Büro, schöne Tage"


def test_what_was_imported_before_stays_as_it_is():
    """Somebody else's library was first: nothing is put in its place."""
    use = (
        "import google.auth.jwt as first\ndefer()\nprint(json.dumps(sys.modules['google.auth.jwt'] is first))"
    )
    assert said(use) is True


def test_garbage_is_looked_for_again_once_all_is_imported():
    """And what was imported is left out of that."""
    assert said(OPEN + "print(json.dumps([gc.isenabled(), gc.get_freeze_count() > 50_000]))") == [True, True]


def test_who_looks_for_no_garbage_is_not_made_to():
    """A program that has switched it off keeps it off."""
    assert said("gc.disable()\n" + OPEN + "print(json.dumps(gc.isenabled()))") is False
