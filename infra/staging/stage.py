"""Make of each function what is deployed: `stage.py [FUNCTION…] [--out DIR] [--policy FILE] [--prices FILE]`.

    build/<function>/                  its main.py, what that reaches of shared/spotwarden with its data,
                                       policy.toml, prices.toml where it prices things, requirements.txt
                                       with hashes
    build/<function>.zip               the same, for Google's builder; deployed under its checksum
    build/staged.json                  the checksum of each archive, and sizes

Run by the Python of an environment that the lock made. The same sources give the same bytes, on any machine.
"""

import argparse
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml
from archive import compile_all, pack, sources
from needs import requirements
from reach import reach

ROOT = Path(__file__).resolve().parents[2]
NO_DATA = frozenset((".md", ".py", ".typed"))
"""Files beside code that nothing reads at run time, and the code itself."""


class Inputs(NamedTuple):
    """What is staged: the tree that holds it, and the two files that ops may have of their own."""

    root: Path
    policy: Path
    prices: Path

    @property
    def names(self) -> list[str]:
        """The functions of the manifest."""
        rows = yaml.safe_load((self.root / "infra/functions.yaml").read_text(encoding="utf-8"))["functions"]
        return [row["name"] for row in rows]

    @property
    def data(self) -> list[tuple[str, str, Path]]:
        """Files that are read at run time: which module reads it, under which name, and where it is now."""
        return [
            ("spotwarden/engine/policy_file/reading.py", "policy.toml", self.policy),
            ("spotwarden/recovery/kinds/price_file.py", "prices.toml", self.prices),
            (
                "spotwarden/recovery/kinds/price_file.py",
                "price-list.json",
                self.root / "infra/price-list.json",
            ),
        ]


def stage(name: str, inputs: Inputs, out: Path) -> dict[str, object]:
    """Stage one function; gives its entry of `staged.json`."""
    source, folder = inputs.root / "functions" / name, out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copyfile(source / "main.py", folder / "main.py")
    reached = reach(source / "main.py", inputs.root / "shared").files
    for file in (*reached, *_data(reached, inputs.root / "shared")):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(inputs.root / "shared" / file, folder / file)
    for reader, kept, data in inputs.data:
        if Path(reader) in reached:
            shutil.copyfile(data, folder / kept)
    lock = (inputs.root / "requirements.lock").read_text(encoding="utf-8")
    (folder / "requirements.txt").write_text(requirements(source, lock), encoding="utf-8")
    return _packed(name, folder, out)


def _data(reached: Iterable[Path], shared: Path) -> Iterator[Path]:
    """The templates, styles and scripts beside the code that is reached, also in folders without code."""
    for folder in sorted({file.parent for file in reached}):
        yield from (file.relative_to(shared) for file in _beside(shared / folder))


def _beside(folder: Path) -> Iterator[Path]:
    """The files of a folder and of those below it that are no packages, but for code and notes."""
    for inside in sorted(folder.iterdir()):
        if inside.is_dir() and inside.name != "__pycache__" and not (inside / "__init__.py").exists():
            yield from _beside(inside)
        elif inside.is_file() and inside.suffix not in NO_DATA:
            yield inside


def _packed(name: str, folder: Path, out: Path) -> dict[str, object]:
    """Pack a staged folder, then compile it."""
    archive = out / f"{name}.zip"
    checksum = pack(folder, archive)
    files = sources(folder)
    compile_all(folder)
    return {
        "archive": archive.name,
        "sha256": checksum,
        "files": len(files),
        "bytes": sum(file.stat().st_size for file in files),
        "archive_bytes": archive.stat().st_size,
        "packages": (folder / "requirements.txt").read_text(encoding="utf-8").count("=="),
    }


def main() -> None:
    """Stage every function of the manifest and print what came of it."""
    parser = argparse.ArgumentParser(description="Make of each function what is deployed.")
    parser.add_argument("function", nargs="*", help="stage these only (all of the manifest)")
    parser.add_argument("--out", type=Path, default=ROOT / "build")
    parser.add_argument("--policy", type=Path, default=ROOT / "infra/policy.toml")
    parser.add_argument("--prices", type=Path, default=ROOT / "infra/prices.toml")
    said = parser.parse_args()
    inputs = Inputs(ROOT, said.policy, said.prices)
    staged = {name: stage(name, inputs, said.out) for name in said.function or inputs.names}
    text = json.dumps(staged, indent=2, sort_keys=True)
    (said.out / "staged.json").write_text(text + "\n", encoding="utf-8")
    for name, item in staged.items():
        size = (
            f"{item['files']:4} files {int(str(item['bytes'])) / 1024:6.0f} kB {item['packages']:3} packages"
        )
        print(f"{name:20} {size}  sha256 {item['sha256']}")


if __name__ == "__main__":
    main()
