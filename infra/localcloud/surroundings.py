"""What of the environment in which a local cloud is started reaches what runs on it."""

from collections.abc import Mapping

SETTINGS = "SPOTWARDEN_"
MARKS = frozenset({"SPOTWARDEN_SUPERVISOR"})
"""No settings: by these, processes are found."""


def without_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without settings and secrets of Spotwarden's.

    A developer who works with a real deployment has some of them, such as the password of its mail server;
    here they would be wrong at best.
    """
    return {name: value for name, value in environ.items() if not name.startswith(SETTINGS) or name in MARKS}
