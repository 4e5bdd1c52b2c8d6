"""Log entries as bytes: packed JSON, where what they have in common with earlier ones is kept once."""

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec

MOST_LEARNED = 8192
"""Bytes of earlier entries that later ones are packed with."""
_POOR = 0.3
"""An entry that packs worse than this is of a new kind, and learned."""
_WINDOW = -13
"""Bits of `MOST_LEARNED`, with no header around the data."""
_MEMORY = 6


class Packed(msgspec.Struct, frozen=True, gc=False):
    """An entry, and what it is packed with: that is one object for all entries of the same time."""

    data: bytes
    learned: bytes

    def unpack(self) -> Mapping[str, Any]:
        """As it was before."""
        reader = zlib.decompressobj(_WINDOW, self.learned)
        entry: Mapping[str, Any] = msgspec.json.decode(reader.decompress(self.data))
        return entry


class Packer:
    """Packs entries, and learns from the first of each kind as long as there is room."""

    def __init__(self) -> None:
        self._learned = b""

    def pack(self, entry: Mapping[str, Any]) -> Packed:
        """The entry as bytes."""
        text, learned = msgspec.json.encode(entry), self._learned
        writer = zlib.compressobj(
            zlib.Z_BEST_SPEED, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, learned
        )
        data = writer.compress(text) + writer.flush()
        if len(data) > _POOR * len(text) and len(learned) + len(text) <= MOST_LEARNED:
            self._learned = learned + text
        return Packed(data, learned)
