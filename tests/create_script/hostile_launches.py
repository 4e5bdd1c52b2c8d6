"""Scripts that are understood and launch something: what costs much is their request in each other place."""

from collections.abc import Mapping

ZONES = tuple(f"us-x{region}-{letter}" for region in range(45) for letter in "abc")
"""As many as Google has, or a few more."""
NAMED = b"b.us-central1-a.c.demo-project.internal "
FILES: Mapping[str, bytes] = {
    "named.txt": NAMED * (250_000 // len(NAMED)),
    "dotted.txt": b" a." * 80_000,
    "huge.txt": b"x" * (4 * 1024 * 1024),
    "empty.json": b'{"a": {"entries": {"b": [' + b",".join([b"{}"] * 1_000_000) + b"]}}}",
}
ONE = "gcloud compute instances create trainer --zone=us-central1-a "
ALPHA = ONE.replace("gcloud", "gcloud alpha")
GANG = "gcloud compute instances bulk create --name-pattern=t-#### --count=5000 "
LAUNCHES = {
    "names of nodes": ONE + "--metadata-from-file=a=named.txt,b=named.txt",
    "names of nodes of many": GANG + "--zone=us-central1-a --metadata-from-file=a=named.txt,b=named.txt",
    "names of no nodes": GANG + "--region=us-central1 --metadata-from-file=a=dotted.txt,b=dotted.txt",
    "the most nodes": GANG + "--zone=us-central1-a",
    "a huge file": ONE + "--metadata-from-file=a=huge.txt",
    "a huge file again and again": ONE
    + "--metadata-from-file="
    + ",".join(f"k{number}=huge.txt" for number in range(5_000)),
    "metadata of partners": ALPHA + "--partner-metadata-from-file=empty.json",
    "metadata of partners in the script": ALPHA + "--partner-metadata='^;^a/b=[" + "{}," * 40_000 + "{}]'",
    "many disks": ONE + " ".join(f"--create-disk=name=d{number},size=10" for number in range(1_900)),
    "many labels": ONE + "--labels=" + ",".join(f"k{number}=v" for number in range(9_000)),
}
