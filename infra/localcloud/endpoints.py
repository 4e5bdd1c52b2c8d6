"""Where the local cloud listens, and the settings that point Google's clients and gcloud at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from localcloud.deployed.bases import BASES


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """`http` is a URL (`http://127.0.0.1:P`), `grpc` a host and port, `home` a folder for gcloud's files.

    `token` is that of the run, which `http` carries already; "" where none is needed.
    """

    http: str
    grpc: str
    project: str
    home: Path
    token: str = ""

    def environment(self) -> Mapping[str, str]:
        """The environment of a client: documented settings only, nothing changed inside a library."""
        host = self.http.removeprefix("http://")
        return {
            "SPOTWARDEN_LOCAL_URL": self.http,
            "GOOGLE_CLOUD_PROJECT": self.project,
            "GCE_METADATA_HOST": host,
            # google-auth asks here first whether there is a metadata server at all, with no path of its own.
            "GCE_METADATA_IP": f"{host}/" if self.token else host,
            "STORAGE_EMULATOR_HOST": self.http,
            "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA": "true",
            # Else gcsfs asks for a bucket's layout over gRPC with TLS, at the HTTP port, for a minute a call.
            "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
            "PUBSUB_EMULATOR_HOST": self.grpc,
            "SPOTWARDEN_COMPUTE_ENDPOINT": self.http,
            "SPOTWARDEN_MONITORING_ENDPOINT": f"http://{self.grpc}",
            "SPOTWARDEN_LOGGING_ENDPOINT": self.http,
            "SPOTWARDEN_PUBSUB_ENDPOINT": f"http://{self.grpc}",
            **({"SPOTWARDEN_LOCAL_TOKEN": self.token} if self.token else {}),
            **self._gcloud(),
        }

    def _gcloud(self) -> Mapping[str, str]:
        override = "CLOUDSDK_API_ENDPOINT_OVERRIDES_"
        return {
            "CLOUDSDK_CONFIG": str(self.home / "gcloud"),
            "CLOUDSDK_CORE_PROJECT": self.project,
            "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
            "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(self.home / "token"),
            "BOTO_CONFIG": str(self.home / "boto"),
            override + "COMPUTE": f"{self.http}/compute/v1/",
            override + "STORAGE": f"{self.http}/storage/v1/",
            override + "PUBSUB": f"{self.http}/",
            override + "LOGGING": f"{self.http}/",
            override + "MONITORING": f"{self.http}/",
            override + "CLOUDSCHEDULER": f"{self.http}/",
            override + "CLOUDRESOURCEMANAGER": f"{self.http}/",
            override + "IAM": f"{self.http}/",
            **{override + api.upper(): f"{self.http}/{base}" for api, base in BASES.items()},
        }

    def prepare(self) -> None:
        """Write the few files that gcloud and gsutil want to find: a token and a boto configuration."""
        (self.home / "gcloud").mkdir(parents=True, exist_ok=True)
        (self.home / "token").write_text(f"{self.token or 'local-cloud'}\n", encoding="utf-8")
        (self.home / "boto").write_text("[GSUtil]\nuse_gcloud_storage = True\n", encoding="utf-8")
