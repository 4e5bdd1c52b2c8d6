"""A job's create script as it is stored, with the files beside it."""

from collections.abc import Mapping
from hashlib import sha256

from spotwarden.layout import CreateScript, Layout, ObjectName, ResolvedScript, ScriptFile
from spotwarden.model.launch import StoredScript
from spotwarden.ports import Store
from spotwarden.recovery.folder.folder_list import JobFolder

SCRIPT_AT_MOST = 1024 * 1024
"""Bytes of a create script that are read; a fourth of them is more than is understood."""
FILES_AT_MOST = 8 * 1024 * 1024
"""Bytes of all files beside a job's script: twice what its creates may read of them."""
MANY_FILES = 100
"""Files beside a job's script: each is a call, and all other jobs of the batch wait for them."""


def read_script(store: Store, layout: Layout, job: str, folder: JobFolder) -> StoredScript | None:
    """The script that is re-run: the resolved one, where it was made from this very create script."""
    object_name: ObjectName = CreateScript(job=job)
    entry = folder.things.get(object_name)
    if entry is not None and entry.size > SCRIPT_AT_MOST:
        problem = f"it has {entry.size} bytes, and at most {SCRIPT_AT_MOST} are read"
        return StoredScript(name=entry.name, text=b"", generation=entry.generation, problem=problem)
    script = folder.read(store, layout, object_name) if entry is not None else None
    if script is None:
        return None
    stored = script.updated
    if (other := ResolvedScript(job=job)) in folder.things:
        resolved = folder.read(store, layout, other)
        if resolved and sha256(script.data).hexdigest().encode() in resolved.data:
            object_name, script = other, resolved
    name = layout.build(object_name)
    if problem := _too_much(folder):
        return StoredScript(
            name=name, text=script.data, generation=script.generation, problem=problem, stored=stored
        )
    files = _files(store, layout, folder)
    return StoredScript(name=name, text=script.data, generation=script.generation, files=files, stored=stored)


def _too_much(folder: JobFolder) -> str:
    """Why the files beside the script are not read; "" where they are: by the listing alone."""
    sizes = [folder.things[object_name].size for object_name in folder.of(ScriptFile)]
    if len(sizes) > MANY_FILES:
        return f"{len(sizes)} files are stored beside it, and at most {MANY_FILES} are read"
    if sum(sizes) > FILES_AT_MOST:
        return f"the files beside it have {sum(sizes)} bytes, and at most {FILES_AT_MOST} are read"
    return ""


def _files(store: Store, layout: Layout, folder: JobFolder) -> Mapping[str, bytes]:
    files: dict[str, bytes] = {}
    for object_name in folder.of(ScriptFile):
        stored = folder.read(store, layout, object_name)
        if isinstance(object_name, ScriptFile) and stored is not None:
            files[object_name.path] = stored.data
    return files
