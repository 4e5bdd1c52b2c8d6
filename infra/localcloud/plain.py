"""Plain http: how everything on this machine talks to everything else."""

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For a client of plain http. Else httpx reads the certificates of the world for it: a fifth of a second when busy."""
