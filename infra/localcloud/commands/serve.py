"""`spotwarden local serve`: a local cloud alone, or with the functions."""

import asyncio
import os
import tempfile
from pathlib import Path

import click

from localcloud.commands.options import LIMIT
from localcloud.private import keep_private

INFRA = Path(__file__).resolve().parents[2]


@click.command()
@click.option("--http-port", default=0, show_default="any free one", help="Port of the REST APIs.")
@click.option("--grpc-port", default=0, show_default="any free one", help="Port of Pub/Sub and Monitoring.")
@click.option("--project", default="local-project", show_default=True, help="Project ID.")
@click.option("--state", type=click.Path(path_type=Path), help="Folder for the bucket [default: temporary].")
@click.option("--functions", is_flag=True, help="Also run the functions of infra/functions.yaml.")
@click.option("--bucket", default="", help="Bucket of the jobs [default: PROJECT-jobs].")
@click.option("--prefix", default="", help="Prefix of the jobs in the bucket, such as users/.")
@click.option(
    "--policy", type=click.Path(path_type=Path), default=INFRA / "policy.toml", help="The policy file."
)
@click.option(
    "--metric-seconds", default=60.0, show_default=True, help="Seconds between measurements of VMs."
)
@LIMIT
@click.option("--no-machines", is_flag=True, help="VMs have no processes: their scripts don't run.")
def serve(
    *,
    http_port: int,
    grpc_port: int,
    project: str,
    state: Path | None,
    functions: bool,
    bucket: str,
    prefix: str,
    policy: Path,
    metric_seconds: float,
    limits: tuple[str, ...],
    no_machines: bool,
) -> None:
    """Start a local cloud.

    Prints one JSON line when it is ready. Ends at Ctrl-C or SIGTERM.
    """
    # The services take a second to import, which the other commands of this group are spared.
    from localcloud import serving

    umask = keep_private()
    with tempfile.TemporaryDirectory(prefix="spotwarden-", ignore_cleanup_errors=True) as temporary:
        try:
            options = serving.options(
                project=project,
                state=(state or Path(temporary)).resolve(),
                ports=(http_port, grpc_port),
                metric_seconds=metric_seconds,
                machines=not no_machines,
                umask=umask,
                with_functions=functions,
                limits=limits,
            )
            deployment = (
                serving.deployment(
                    INFRA,
                    bucket=bucket or f"{project}-jobs",
                    prefix=prefix,
                    policy=policy.resolve(),
                    environ=os.environ,
                )
                if functions
                else None
            )
            asyncio.run(serving.serve(options, deployment))
        except (serving.CannotStartError, OSError) as error:
            raise click.ClickException(f"the local cloud could not start: {error}") from error
