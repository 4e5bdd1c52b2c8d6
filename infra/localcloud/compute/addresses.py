"""IP addresses: given out of a range, each to one at a time."""

from ipaddress import IPv4Network

from localcloud.errors import ApiError

# Set aside for benchmarks (RFC 2544), so nothing on the internet is ever meant by one of these.
EXTERNAL = "198.18.0.0/15"
_RESERVED_AT_START = 2
"""The network's own address and its gateway ("Subnets": unusable addresses)."""


class Pool:
    """The addresses of one range, given out in turn."""

    def __init__(self, cidr: str) -> None:
        self._network = IPv4Network(cidr)
        self._size = self._network.num_addresses - _RESERVED_AT_START - 2
        self._next = 0
        self._used: set[str] = set()

    def take(self) -> str:
        """An address that nobody has.

        Raises:
            ApiError: 400 when there is none left.
        """
        for _ in range(self._size):
            address = str(self._network[_RESERVED_AT_START + self._next])
            self._next = (self._next + 1) % self._size
            if self.claim(address):
                return address
        raise ApiError(400, "ipSpaceExhausted", f"IP space of '{self._network}' is exhausted.")

    def claim(self, address: str) -> bool:
        """Take this address; False when somebody has it."""
        if address in self._used:
            return False
        self._used.add(address)
        return True

    def release(self, address: str) -> None:
        """Give an address back."""
        self._used.discard(address)


class Pools:
    """One pool for each range, made when it is first needed."""

    def __init__(self) -> None:
        self._pools: dict[str, Pool] = {}

    def of(self, cidr: str) -> Pool:
        """The pool of a range."""
        if cidr not in self._pools:
            self._pools[cidr] = Pool(cidr)
        return self._pools[cidr]

    @property
    def external(self) -> Pool:
        """The addresses that look like external ones."""
        return self.of(EXTERNAL)
