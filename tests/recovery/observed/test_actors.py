"""Who asked for an operation, by its `user`."""

import pytest

from spotwarden.recovery.observed.actors import Actor, actor


@pytest.mark.parametrize(
    ("user", "who"),
    [
        ("", Actor.GOOGLE),
        ("system", Actor.GOOGLE),
        ("ann@example.com", Actor.PERSON),
        ("spotwarden-fan@example.com", Actor.PERSON),
        ("ann (global/workforcePools/example-com-us-employees)", Actor.PERSON),
        ("spotwarden-recover-spot@p.iam.gserviceaccount.com", Actor.OURS),
        ("spotwarden@p.iam.gserviceaccount.com", Actor.OURS),
        ("spotwardens@p.iam.gserviceaccount.com", Actor.MACHINE),
        ("123-compute@developer.gserviceaccount.com", Actor.MACHINE),
        ("service-123@compute-system.iam.gserviceaccount.com", Actor.MACHINE),
    ],
)
def test_each_form_of_a_user_says_who_it_is(user, who):
    """A person is who is neither Google, nor a service account, ours or another's."""
    assert actor(user) is who
