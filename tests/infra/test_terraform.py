"""Terraform's configuration as it is written: it fits the provider's schema, and refers to what there is."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.infra.hcl import (
    CONFIG,
    FILES,
    FOLDERS,
    TERRAFORM,
    Block,
    faults_of_layout,
    inside,
    plain,
    texts,
    things,
)

SCHEMA = json.loads((Path(__file__).parent / "terraform_schema/google.json").read_text())
BLOCKS = [block for config in CONFIG.values() for block in things(config)]
META = {"for_each", "count", "depends_on", "lifecycle", "provider"}


def label(block: Block) -> str:
    """As Terraform would call it."""
    return f"{block.type}.{block.name}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TERRAFORM)))
def test_a_file_is_laid_out_as_terraform_would(file):
    """Held where there is no Terraform, too; where there is one, the next test asks it."""
    assert faults_of_layout(file.read_text()) == []


def test_terraform_itself_finds_nothing_to_lay_out():
    """`terraform fmt -check`, the judge of the test before."""
    if not shutil.which("terraform"):
        pytest.skip("there is no terraform here; the layout was checked without it")
    done = subprocess.run(
        ["terraform", "fmt", "-check", "-recursive", str(TERRAFORM)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("a = 1\n", []),
        ("a = 1 \n", ["line 1: the spaces around it"]),
        ("a  = 1\nab = 2\n", []),
        ("a = 1\nab = 2\n", ["line 1: its equals sign"]),
        ("a {\n  b = 1\n}\n", []),
        ("a {\n b = 1\n}\n", ["line 2: the spaces around it"]),
        ("a = f([\n  1,\n])\n", []),
        ('a = "x${f("{")}"\nb = 1\n', []),
        ("a = [ # {\n  1,\n]\n", []),
    ],
)
def test_the_layout_is_judged_as_terraform_judges_it(text, faults, tmp_path):
    """Our own judge and, where there is one, Terraform's say the same."""
    assert faults_of_layout(text) == faults
    if shutil.which("terraform"):
        (tmp_path / "x.tf").write_text(text)
        done = subprocess.run(["terraform", "fmt", "-check", str(tmp_path)], capture_output=True, check=False)
        assert bool(done.returncode) == bool(faults)


@pytest.mark.parametrize("block", BLOCKS, ids=label)
def test_a_block_fits_the_schema_of_the_provider(block):
    """The pinned version knows every argument and nested block, and none that it needs is missing."""
    assert list(faults(block.body, SCHEMA[block.kind][block.type], label(block))) == []


def faults(body: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    """What of a block the provider would refuse."""
    attributes, blocks = schema["attributes"], schema["blocks"]
    written = nested(body, blocks)
    for key in set(inside(body)) - META - {"dynamic"} - set(blocks):
        if key not in attributes:
            yield f"{path}.{key}: there is no such argument"
        elif attributes[key]["is"] == ["computed"]:
            yield f"{path}.{key}: cannot be set"
    yield from missing(body, written, schema, path)
    for name, bodies in written.items():
        if name not in blocks:
            yield f"{path}.{name}: there is no such block"
            continue
        if len(bodies) > 1 and not blocks[name]["many"]:
            yield f"{path}.{name}: can be there once"
        for one in bodies:
            yield from faults(one, blocks[name], f"{path}.{name}")


def nested(body: Mapping[str, Any], blocks: Mapping[str, Any]) -> Mapping[str, list[Mapping[str, Any]]]:
    """The blocks in a block, those that are generated as well."""
    written = {name: list(value) for name, value in inside(body).items() if name in blocks}
    for one in body.get("dynamic", ()):
        for name, generated in one.items():
            written.setdefault(plain(name), []).extend(generated["content"])
    return written


def missing(
    body: Mapping[str, Any], written: Mapping[str, object], schema: Mapping[str, Any], path: str
) -> Iterator[str]:
    """What a block needs, and does not have."""
    for name, one in schema["attributes"].items():
        if "required" in one["is"] and name not in body:
            yield f"{path}.{name}: is needed"
    for name, one in schema["blocks"].items():
        if "required" in one["is"] and name not in written:
            yield f"{path}.{name}: is needed"


def test_what_does_not_fit_the_schema_is_found():
    """An argument that is misspelt, one that cannot be set, one too many, and what is missing."""
    topic = SCHEMA["resource"]["google_pubsub_subscription"]
    body = {
        "nam": '"x"',
        "topic": '"t"',
        "retry_policy": [{}, {"minimum": '"1s"'}],
        "push": [{"__is_block__": True}],
    }
    assert set(faults(body, topic, "x")) == {
        "x.nam: there is no such argument",
        "x.push: there is no such argument",
        "x.name: is needed",
        "x.retry_policy: can be there once",
        "x.retry_policy.minimum: there is no such argument",
    }
    assert list(faults({"name": '"x"', "etag": '"y"'}, SCHEMA["data"]["google_storage_bucket"], "x")) == [
        "x.etag: there is no such argument"
    ]


def test_the_pinned_provider_is_the_one_of_the_schema():
    """What was checked is what is deployed."""
    required = CONFIG[""]["terraform"][0]["required_providers"][0]["google"]
    assert {plain(key): plain(value) for key, value in inside(required).items()} == {
        "source": "hashicorp/google",
        "version": SCHEMA["provider_version"],
    }


def test_the_schema_holds_what_is_used_and_no_more():
    """It is data of the tests, kept small."""
    for kind in ("resource", "data"):
        assert set(SCHEMA[kind]) == {block.type for block in BLOCKS if block.kind == kind}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_reference_leads_somewhere(folder):
    """To a resource, a value, a variable or a module that is there; and to an attribute that its type has."""
    config = CONFIG[folder]
    words = "\n".join(texts(config))
    there = {(block.kind, block.type, block.name): block for block in things(config)}
    for data, type_, name, attribute in re.findall(
        r"(?<![\w.\"/])(data\.)?(google_\w+)\.(\w+)(?:\[[^\]]*\])?(?:\.(\w+))?", words
    ):
        kind = "data" if data else "resource"
        assert (kind, type_, name) in there, f"{kind} {type_}.{name}"
        known = {*SCHEMA[kind][type_]["attributes"], *SCHEMA[kind][type_]["blocks"], "id", ""}
        assert attribute in known, f"{type_}.{name}.{attribute}"
    for word, names in named(config).items():
        assert set(re.findall(rf"(?<![\w.]){word}\.(\w+)", words)) - {"*"} == names, word


def named(config: Mapping[str, list[Any]]) -> Mapping[str, set[str]]:
    """What is defined, by the word that refers to it; each of them must be used, too."""
    return {
        "local": {name for block in config.get("locals", ()) for name in inside(block)},
        "var": {plain(name) for block in config.get("variable", ()) for name in block},
        "module": {plain(name) for block in config.get("module", ()) for name in block},
    }


def test_a_module_is_given_what_it_asks_for():
    """Every variable without a default, and nothing else."""
    asked = {plain(name): body for block in CONFIG["service"]["variable"] for name, body in block.items()}
    for block in CONFIG[""]["module"]:
        for body in block.values():
            assert set(inside(body)) - META - {"source"} == set(asked)


def test_every_variable_says_what_it_is():
    """With a type and a description; what must be given has no default."""
    variables = {plain(name): body for block in CONFIG[""]["variable"] for name, body in block.items()}
    assert all({"type", "description"} <= set(body) for body in variables.values())
    needed = {name for name, body in variables.items() if "default" not in body}
    assert needed == {"project", "region", "bucket", "alert_email"}
    assert plain(variables["mode"]["default"]) == "observe"


def test_no_secret_is_in_the_configuration():
    """Nor can one get into the state: no version of a secret is made or read here."""
    assert not [block for block in BLOCKS if "secret_version" in block.type or "key" in block.type]
    words = "\n".join(file.read_text() for file in FILES)
    assert not re.search(r"secret_data|BEGIN [A-Z ]*PRIVATE|smtps?://|hooks\.slack", words)


def test_nobody_is_given_a_role_over_everything():
    """On the project: our own roles, and two of the builder's; never owner, editor or viewer of all of it."""
    words = "\n".join(file.read_text() for file in FILES)
    roles = set(re.findall(r'"(roles/[\w.]+)"', words))
    assert roles == {
        "roles/artifactregistry.writer",
        "roles/iam.serviceAccountTokenCreator",
        "roles/logging.logWriter",
        "roles/pubsub.publisher",
        "roles/pubsub.subscriber",
        "roles/run.invoker",
        "roles/secretmanager.secretAccessor",
        "roles/storage.objectViewer",
    }


def test_the_jobs_bucket_is_only_looked_at():
    """It is a data source: nothing here can change or destroy it."""
    buckets = [block for block in BLOCKS if block.type == "google_storage_bucket"]
    assert [block.name for block in buckets if block.kind == "data"] == ["jobs"]
    made = [block for block in BLOCKS if block.type == "google_storage_bucket" and block.kind == "resource"]
    assert [plain(block.body["name"]) for block in made] == ["${var.project}-spotwarden-staging"]
