"""The exit status of a command that Ctrl-C has ended, as a shell would give it."""

import signal

STATUS = 128 + signal.SIGINT
