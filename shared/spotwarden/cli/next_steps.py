"""What a person can type next after a refusal of Google Cloud's, each on a line of its own."""

from spotwarden.recovery.refusals import RefusalKind, refusal

ROLE = "Ask whoever runs the project for the role. docs/deploy/permissions.md lists who needs which"
_QUOTA = (
    "To see your quotas: gcloud compute project-info describe. For those of a region: gcloud compute regions"
    " describe REGION\nRequest more, or use a smaller machine or another region"
)


def next_step(error: str) -> str:
    """By what Compute Engine answered, its reason word first; "" where no step is known."""
    match refusal(error):
        case RefusalKind.FORBIDDEN:
            return f"\n{ROLE}"
        case RefusalKind.QUOTA:
            return f"\n{_QUOTA}"
        case _:
            return ""
