"""What a deployment sets: where Pub/Sub is spoken to."""

import pytest

from spotwarden.engine.settings import Settings

SET = {"SPOTWARDEN_PROJECT": "p", "SPOTWARDEN_BUCKET": "b", "SPOTWARDEN_NOTICES": "n"}


@pytest.mark.parametrize(
    ("environ", "endpoint"),
    [
        ({}, ""),
        ({"SPOTWARDEN_PUBSUB_ENDPOINT": "http://127.0.0.1:8080"}, "http://127.0.0.1:8080"),
        ({"PUBSUB_EMULATOR_HOST": "127.0.0.1:8085"}, "http://127.0.0.1:8085"),
        (
            {"SPOTWARDEN_PUBSUB_ENDPOINT": "http://127.0.0.1:8080", "PUBSUB_EMULATOR_HOST": "127.0.0.1:8085"},
            "http://127.0.0.1:8080",
        ),
    ],
)
def test_notices_go_where_the_environment_says(environ, endpoint):
    """To Google where it says nothing; an emulator is followed as Google's own clients follow it."""
    settings = Settings.read(SET | environ)
    assert settings.connection()["pubsub_endpoint"] == endpoint
