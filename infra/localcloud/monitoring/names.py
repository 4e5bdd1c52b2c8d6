"""Names of Monitoring's resources."""

from localcloud.rpc import RpcError


def check_project(name: str, project: str) -> None:
    """Refuse a name that is not under this local cloud's project.

    Raises:
        RpcError: INVALID_ARGUMENT for what is no name of a project, NOT_FOUND for another project.
    """
    parts = name.split("/")
    if parts[0] != "projects" or len(parts) < 2 or not parts[1]:  # noqa: PLR2004 - projects/P
        text = f'Name must begin with "projects/{{project_id_or_number}}", got: "{name}"'
        raise RpcError("INVALID_ARGUMENT", text)
    if parts[1] != project:
        raise RpcError(
            "NOT_FOUND", f"The project {parts[1]!r} does not exist; this local cloud holds {project!r}."
        )


def tail(name: str, project: str, kind: str) -> str:
    """What follows `projects/P/KIND/` in a name.

    Raises:
        RpcError: as `check_project`, and INVALID_ARGUMENT for a name of another kind.
    """
    check_project(name, project)
    start = f"projects/{project}/{kind}/"
    if not name.startswith(start) or name == start:
        raise RpcError("INVALID_ARGUMENT", f'Name must have the form "{start}…", got: "{name}"')
    return name.removeprefix(start)
