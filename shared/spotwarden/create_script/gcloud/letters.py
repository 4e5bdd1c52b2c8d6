"""The create commands of gcloud, and the letter of each in the table of flags."""

CREATE, BULK, CONTAINER = "create", "bulk create", "create-with-container"
POLICY, TEMPLATE, GROUP = (
    "resource-policies create workload-policy",
    "instance-templates create",
    "instance-groups managed create",
)
"""What makes the parts of a TPU slice."""
LETTERS = {CREATE: "c", BULK: "b", CONTAINER: "k", TEMPLATE: "t", GROUP: "g", POLICY: "p"}


def full_name(command: str) -> str:
    """The words of a command behind `gcloud compute`."""
    return command if command in {POLICY, TEMPLATE, GROUP} else f"instances {command}"
