"""What a story counts of the topic of notices: notices, not their deliveries."""

import base64

from tests.e2e.chaos.cloud import NOTICES, PROJECT, served


def test_a_notice_that_comes_twice_is_told_once(tmp_path):
    """Also where the second copy comes after the first was taken, or is published under the same id."""
    policy = tmp_path / "policy.toml"
    policy.write_text('version = "once"\n', encoding="utf-8")
    with served(tmp_path, policy, "--no-machines", functions=False) as cloud:
        cloud.put_topic()
        cloud.subscribe()
        cloud.post("/local/messages", {"double": 1})

        def publish(notice):
            attributes = {"id": notice, "kind": "recovered", "job": "nap"}
            message = {"data": base64.b64encode(b"{}").decode(), "attributes": attributes}
            cloud.post(f"/v1/projects/{PROJECT}/topics/{NOTICES}:publish", {"messages": [message]})

        publish("n-1")
        publish("n-2")
        assert [notice["id"] for notice in cloud.notices()] == ["n-1", "n-2"]
        publish("n-1")
        publish("n-3")
        assert [notice["id"] for notice in cloud.notices()] == ["n-3"]
