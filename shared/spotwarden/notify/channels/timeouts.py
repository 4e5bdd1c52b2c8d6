"""How long a message may take."""

from datetime import timedelta

import msgspec


class ChannelTimeouts(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one message's conversation, over all its steps and however slowly bytes drip in.

    `to_send` is for everything up to the message's last byte: nobody got it when that runs out, and it is
    tried again. `answer` is for the reply to it, and larger: giving up there is what makes a second copy.
    RFC 5321 (4.5.3.2.6) would have us wait for ten minutes there; a function of a minute or two cannot.
    """

    to_send: timedelta = timedelta(seconds=8)
    answer: timedelta = timedelta(seconds=12)
