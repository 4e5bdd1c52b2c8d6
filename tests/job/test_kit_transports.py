"""The bucket by each of the three ways, whichever an image has."""

import pytest


@pytest.mark.parametrize("transport", ["curl", "gcloud", "gsutil"])
def test_any_of_the_three_does(lab, transport):
    """What was there is restored, what is new goes up, and a status that somebody else has written stays."""
    name = f"by-{transport}"
    lab.write(f"{name}/output/deep er/step", "5\n")
    lab.write(f"{name}/input/a", "in\n")
    vm = lab.job(
        'cd "$SPOTWARDEN_OUTPUT"; cat "deep er/step" ../input/in/a; echo 6 > "deep er/step"; sleep 1',
        name=name,
        spotwarden_transport=transport,
        spotwarden_heartbeat="60",
        spotwarden_sync="60",
        spotwarden_inputs=f"gs://jobs/{name}/input/ in",
    )
    vm.until_said("5\nin\n")
    lab.write(f"{name}/metadata/status-code", "9")
    vm.until_gone()
    assert vm.object("output/deep er/step") == "6\n"
    assert vm.status() == "9"
