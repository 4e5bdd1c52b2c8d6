"""Who may import what: each contract holds, and a planted violation of it is found."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mypy import api
from mypy.main import process_options

from tests.long import long

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "shared" / "spotwarden"
FEATURES = ("recovery", "governance", "notify", "report")
OUTSIDE = frozenset(
    [
        "asyncio", "flask", "google", "http", "io", "logging", "os", "pathlib", "random", "requests",
        "shutil", "socket", "subprocess", "tempfile", "threading", "time", "urllib3", "werkzeug",
    ]
)  # fmt: skip
BELOW = ("spotwarden.clock", "spotwarden.engine", "spotwarden.gcp", "spotwarden.ports")
DOORS = {
    "recovery": "folder/folder_list folder/job_folder folder/node_beats folder/open_jobs folder/ran"
    " folder/stored_script forecast/table instances/own_instances kinds/price_file look/event_look"
    " look/gather look/job_look look/sharing look/storms look/surveying markers/crowds markers/reading"
    " places/advice_calls places/memory places/place_records sweep",
    "governance": "last_sweeps pace recording sweep caps/gather caps/meter caps/sweep"
    " cases/deliveries cases/store compliance/gather compliance/sweep idle/gather idle/sweep reap/gather"
    " reap/launched"
    " reap/sweep signals/folders signals/gather signals/heard signals/heartbeats signals/junk"
    " signals/listings signals/outputs signals/records signals/slices signals/steady signals/trainings"
    " signals/whose",
    "notify": "channels/conversation channels/door channels/hooks channels/replies channels/smtp"
    " channels/wire links/offer_facts links/audience links/carrying links/launchable links/preferences"
    " links/taking links/web links/writing outbox/delivery outbox/intake outbox/lease outbox/renderer"
    " outbox/preferences outbox/records outbox/shared outbox/store outbox/sweep",
    "report": "assets changes due gather lookup news site store sweep web weekly_mail",
}
"""The modules of each feature that reach outside; all others are pure: facts in, verdicts out."""


def reaches_outside(source: str) -> bool:
    """Whether a module imports I/O, the clock, the environment, a logger or a port."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return any(name.split(".")[0] in OUTSIDE or name.startswith(BELOW) for name in found)


@pytest.mark.parametrize("feature", FEATURES)
def test_only_the_named_modules_of_a_feature_reach_outside(feature):
    """A new one is named here, or it is pure."""
    folder = PACKAGE / feature
    files = {file.relative_to(folder).with_suffix("").as_posix(): file for file in folder.rglob("*.py")}
    outside = {name for name, file in files.items() if reaches_outside(file.read_text(encoding="utf-8"))}
    assert sorted(outside) == sorted(DOORS[feature].split())


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "from time import monotonic",
        "from spotwarden import clock",
        "from spotwarden.engine.log import log",
        "from spotwarden.ports import Store",
        "import google.auth",
    ],
)
def test_a_planted_import_makes_a_pure_module_impure(line):
    """Each way to the outside is seen, also inside a function."""
    pure = (PACKAGE / "recovery" / "observed" / "truth_table.py").read_text(encoding="utf-8")
    assert not reaches_outside(pure)
    assert reaches_outside(f"{pure}\n\ndef planted():\n    {line}\n")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The two programs, to plant something in."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for program in ("shared/spotwarden", "infra/localcloud"):
        shutil.copytree(ROOT / program, folder / program, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def judged(folder):
    """What the linter says of the contracts there: each with its verdict, and the imports that break it."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'shared'}:{folder / 'infra'}", "COLUMNS": "400"}
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout


def test_every_contract_holds(copy):
    """And each is judged."""
    told = judged(copy)
    assert "Contracts: 7 kept, 0 broken." in told


PURE = "Scripts, nouns and names are pure: no I/O, no clock, no environment, no logger"
PLANTED = [
    ("shared/spotwarden/recovery/planted.py", "import spotwarden.notify", "Imports point down only"),
    (
        "shared/spotwarden/recovery/observed/planted.py",
        "import spotwarden.recovery.steps.claiming",
        "Imports point down within recovery, too",
    ),
    ("shared/spotwarden/model/planted.py", "import spotwarden.engine.log", "Imports point down only"),
    (
        "shared/spotwarden/governance/idle/planted.py",
        "import spotwarden.governance.stalls.rule",
        "Rules know nothing of each other",
    ),
    ("shared/spotwarden/notify/channels/planted.py", "import google.auth", "Only gcp imports Google"),
    ("shared/spotwarden/create_script/planted.py", "import subprocess", PURE),
    ("shared/spotwarden/cli/planted.py", "import localcloud", "The product never imports the local cloud"),
    ("infra/localcloud/planted.py", "import spotwarden", "The local cloud never imports the product"),
]


@pytest.fixture(scope="module")
def violated(copy):
    """What the linter says of the two programs with all of that in them."""
    for module, line, _ in PLANTED:
        (copy / module).write_text(f"{line}\n", encoding="utf-8")
    yield judged(copy)
    for module, _, _ in PLANTED:
        (copy / module).unlink()


@pytest.mark.parametrize(("module", "line", "contract"), PLANTED)
def test_a_planted_violation_breaks_its_contract(violated, module, line, contract):
    """One line is enough: it is named below its contract."""
    assert f"{contract} BROKEN" in violated
    planted = module.partition("/")[2].removesuffix(".py").replace("/", ".")
    told = violated.partition("Broken contracts")[2]
    below = told.partition(f"\n{contract}\n-")[2].partition("\n--")[0]
    assert re.search(rf" {planted} -> {line.split()[1].partition('.')[0]}\b", below)


READ = (
    "functions",
    "infra/deploy",
    "infra/localcloud",
    "infra/site",
    "infra/staging",
    "shared/spotwarden",
    "tests",
)
SHADOWED = {"tests/bench/spot_traces.py"}
"""Starts the package of its own name, which is read."""


def test_the_type_checker_reads_all_but_the_tests_themselves(monkeypatch):
    """Entry points, and what tests have in common, as well as the product."""
    monkeypatch.chdir(ROOT)
    sources, options = process_options([])
    there = {file.relative_to(ROOT).as_posix() for folder in READ for file in (ROOT / folder).rglob("*.py")}
    read = {Path(source.path).as_posix() for source in sources if source.path}
    assert {name for name in there if not Path(name).name.startswith("test_")} - read == SHADOWED
    assert options.disallow_untyped_defs
    assert options.disallow_any_generics


MAIN = (ROOT / "functions/recover_spot/main.py").read_text(encoding="utf-8")
HELPER = """\
from tests.fakes.world import World


def wrong(world: World) -> None:
    world.wait({})
"""
POLICY = """\
from spotwarden.engine.context import SweepContext


def wrong(context: SweepContext) -> object:
    return context.policy.{}
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    """What the type checker says of files with something planted, in one run."""
    folder = tmp_path_factory.mktemp("planted")
    planted = {
        "right_main": MAIN,
        "turned_main": MAIN.replace("connect, sweep)", "sweep, connect)"),
        "foreign_main": MAIN.replace(
            "from spotwarden.recovery.sweep import sweep",
            "from spotwarden.recovery.look.gather import gather as sweep",
        ),
        "right_section": POLICY.format("recovery"),
        "wrong_section": POLICY.format("recoverry"),
        "right_helper": HELPER.format("minutes=1.0"),
        "wrong_helper": HELPER.format("'a minute'"),
    }
    for name, text in planted.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    files = [str(folder / f"{name}.py") for name in planted]
    config = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(folder / "cache")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        said, failed, _ = api.run([*config, *files])
    assert not failed
    return {name for name in planted if f"{name}.py:" in said}


@long
def test_a_planted_wrong_call_is_found_in_an_entry_point_and_in_a_helper_of_tests(wrong):
    """And the same lines without the fault are fine."""
    assert wrong == {"turned_main", "foreign_main", "wrong_section", "wrong_helper"}
