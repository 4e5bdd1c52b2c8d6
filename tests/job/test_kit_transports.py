"""The bucket by each of the three ways, whichever an image has."""

import pytest


@pytest.mark.parametrize("transport", ["gcloud", "gsutil"])
def test_a_job_needs_no_curl_for_the_bucket(lab, transport):
    """What was there is restored, what is new goes up, the status is written once."""
    name = f"by-{transport}"
    lab.write(f"{name}/output/deep er/step", "5\n")
    lab.write(f"{name}/input/a", "in\n")
    vm = lab.job(
        'cd "$SPOTWARDEN_OUTPUT"; cat "deep er/step" "$SPOTWARDEN_INPUT/in/a"; echo 6 > "deep er/step"; exit 4',
        name=name,
        spotwarden_transport=transport,
        spotwarden_inputs=f"gs://jobs/{name}/input/ in",
    )
    assert vm.status() == "4"
    assert "5\nin\n" in vm.object(f"metadata/logs/{name}/1.log")
    assert vm.object("output/deep er/step") == "6\n"
    vm.until_gone()
