"""Plain http: how everything on this machine talks to everything else."""

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For a client of plain http: httpx reads all certificates else, which takes up to a fifth of a second."""
