"""`spotwarden submit` without Compute Engine: what is refused before anything is stored."""

from pathlib import Path

SCRIPT = (
    "gcloud compute instances create test-vm --zone=us-central1-a --machine-type=a3-megagpu-8g --no-address\n"
)


def test_a_script_that_the_policy_does_not_admit_is_refused_with_every_reason(workstation, tmp_path):
    """And nothing of it is stored: a developer hears at once what recover_spot would say later."""
    Path(workstation.policy).write_text(
        'version = "1"\n[admission]\nmachine_types = ["g2-*"]\nservice_accounts = ["job@*"]\n'
    )
    script = tmp_path / "create-instance.sh"
    script.write_text(SCRIPT)
    said = workstation.refused("submit", str(script))
    assert "the policy doesn't allow what it creates" in said
    assert "machine type 'a3-megagpu-8g' is not among g2-*" in said
    assert "service account 'default' is not among job@*" in said
    assert workstation.store.entries("") == []
