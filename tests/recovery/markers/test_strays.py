"""Which nodes a job has, by what no job VM may write."""

from spotwarden.recovery.markers.strays import nodes_of


def test_a_jobs_nodes_are_those_of_its_chain_its_registered_ids_and_its_script(some):
    """Each of them alone is enough."""
    ledger = (some.attempt(2, instances={"made": "2"}, replaces={"before": "1"}),)
    facts = some.job(ledger=ledger, registrations={"registered": "3"}, launch=some.launch())
    assert nodes_of(facts) == {"made", "before", "registered", *facts.launch.nodes}
