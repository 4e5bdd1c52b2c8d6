"""Google's own Python client, by its documented settings alone: an endpoint and anonymous credentials."""

import threading
import uuid

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1

from tests.localcloud.compute.conftest import Cloud
from tests.localcloud.compute.world import IMAGE, PROJECT, REGION, ZONE

PLACE = {"project": PROJECT, "zone": ZONE}


def instance(name: str = "vm", **fields) -> compute_v1.Instance:
    """The least instance, as the client's own message."""
    boot = compute_v1.AttachedDisk(
        boot=True,
        auto_delete=True,
        initialize_params=compute_v1.AttachedDiskInitializeParams(source_image=IMAGE),
    )
    return compute_v1.Instance(
        name=name,
        machine_type=f"zones/{ZONE}/machineTypes/n1-standard-1",
        disks=[boot],
        network_interfaces=[compute_v1.NetworkInterface(network="global/networks/default")],
        **fields,
    )


def spot(action: str = "DELETE") -> compute_v1.Scheduling:
    """The scheduling of a spot VM."""
    return compute_v1.Scheduling(provisioning_model="SPOT", instance_termination_action=action)


def create(cloud: Cloud, name: str = "vm", **fields) -> compute_v1.Instance:
    """Create an instance and wait for it."""
    instances = cloud.client(compute_v1.InstancesClient)
    operation = cloud.done(instances.insert_unary(instance_resource=instance(name, **fields), **PLACE))
    assert not operation.error.errors
    return instances.get(instance=name, **PLACE)


def test_an_instance_from_its_creation_to_its_end(cloud: Cloud, instances: compute_v1.InstancesClient):
    """insert, get, list, stop, start, reset, delete; the client waits for each operation."""
    made = create(cloud, labels={"job": "a"})
    assert (made.status, made.labels["job"], made.id > 10**18) == ("RUNNING", "a", True)
    assert [one.name for one in instances.list(**PLACE)] == ["vm"]
    cloud.done(instances.stop_unary(instance="vm", **PLACE))
    assert instances.get(instance="vm", **PLACE).status == "TERMINATED"
    cloud.done(instances.start_unary(instance="vm", **PLACE))
    cloud.done(instances.reset_unary(instance="vm", **PLACE))
    again = instances.get(instance="vm", **PLACE)
    assert (again.status, again.id) == ("RUNNING", made.id)
    cloud.done(instances.delete_unary(instance="vm", **PLACE))
    with pytest.raises(exceptions.NotFound, match="was not found"):
        instances.get(instance="vm", **PLACE)


def test_errors_are_the_clients_own_exceptions(cloud: Cloud, instances: compute_v1.InstancesClient):
    """409, 404, 400 and 412 as the client knows them."""
    made = create(cloud)
    with pytest.raises(exceptions.Conflict, match="already exists"):
        instances.insert_unary(instance_resource=instance(), **PLACE)
    with pytest.raises(exceptions.NotFound):
        instances.delete_unary(instance="none", **PLACE)
    wrong = instance("other")
    wrong.machine_type = f"zones/{ZONE}/machineTypes/x"
    with pytest.raises(exceptions.BadRequest, match="Machine type with name 'x' does not exist"):
        instances.insert_unary(instance_resource=wrong, **PLACE)
    body = compute_v1.InstancesSetLabelsRequest(label_fingerprint="AAAA", labels={"a": "b"})
    with pytest.raises(exceptions.PreconditionFailed, match="Labels fingerprint"):
        instances.set_labels_unary(instance="vm", instances_set_labels_request_resource=body, **PLACE)
    body.label_fingerprint = made.label_fingerprint
    cloud.done(instances.set_labels_unary(instance="vm", instances_set_labels_request_resource=body, **PLACE))


def test_a_stockout_is_in_the_operation(cloud: Cloud, instances):
    """The code and its details, in the client's own messages."""
    with cloud.stand.client() as http:
        http.post("/local/stockout", json={"zone": ZONE}).raise_for_status()
    operation = cloud.done(instances.insert_unary(instance_resource=instance(), **PLACE))
    assert operation.http_error_status_code == 503
    (error,) = operation.error.errors
    assert error.code == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    assert [detail.error_info.reason for detail in error.error_details][-1] == "resource_availability"


def test_everything_is_found_by_the_pager(cloud: Cloud, instances):
    """The client fetches page after page."""
    with cloud.stand.client() as http:
        http.post("/local/fleet", json={"count": 1201}).raise_for_status()
    request = compute_v1.AggregatedListInstancesRequest(project=PROJECT, max_results=500)
    found = [one.name for _, scoped in instances.aggregated_list(request=request) for one in scoped.instances]
    assert len(found) == len(set(found)) == 1201


def test_filters_reach_the_server(cloud: Cloud, instances: compute_v1.InstancesClient):
    """And come back as a BadRequest where they are none."""
    create(cloud, "a", labels={"job": "x"})
    create(cloud, "b")
    request = compute_v1.ListInstancesRequest(filter="labels.job=x", **PLACE)
    assert [one.name for one in instances.list(request=request)] == ["a"]
    with pytest.raises(exceptions.BadRequest, match="Invalid list filter expression"):
        list(instances.list(request=compute_v1.ListInstancesRequest(filter="job=x", **PLACE)))


def test_a_preemption_is_seen_in_the_operations(cloud: Cloud):
    """As a system operation on this id; the instance is deleted."""
    made = create(cloud, scheduling=spot())
    cloud.stand.call(cloud.service.preempt, "vm")
    client = cloud.client(compute_v1.GlobalOperationsClient)
    request = compute_v1.AggregatedListGlobalOperationsRequest(
        project=PROJECT, filter='operationType = "compute.instances.preempted"'
    )
    found = [one for _, scoped in client.aggregated_list(request=request) for one in scoped.operations]
    assert [(one.target_id, one.user) for one in found] == [(made.id, "system")]


def test_of_sixteen_threads_with_one_request_id_all_get_one_operation(instances: compute_v1.InstancesClient):
    """And one instance comes of it."""
    request = compute_v1.InsertInstanceRequest(
        instance_resource=instance(), request_id=str(uuid.uuid4()), **PLACE
    )
    names: list[str] = []
    threads = [
        threading.Thread(
            target=lambda: names.append(instances.insert_unary(request=request).name), daemon=True
        )
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (len(names), len(set(names))) == (16, 1)


def test_of_sixteen_threads_with_one_name_one_wins(instances: compute_v1.InstancesClient):
    """The others get a conflict."""
    outcomes: list[str] = []

    def insert() -> None:
        try:
            instances.insert_unary(instance_resource=instance(), **PLACE)
            outcomes.append("won")
        except exceptions.Conflict:
            outcomes.append("lost")

    threads = [threading.Thread(target=insert, daemon=True) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["lost"] * 15 + ["won"]


def test_a_bulk_request_in_a_region(cloud: Cloud):
    """The regional client, a regional operation, instances in the zones."""
    properties = compute_v1.InstanceProperties(
        machine_type="n1-standard-1",
        disks=instance().disks,
        network_interfaces=instance().network_interfaces,
    )
    body = compute_v1.BulkInsertInstanceResource(
        count=4,
        name_pattern="w-#",
        instance_properties=properties,
        location_policy=compute_v1.LocationPolicy(target_shape="BALANCED"),
    )
    client = cloud.client(compute_v1.RegionInstancesClient)
    cloud.done(
        client.bulk_insert_unary(project=PROJECT, region=REGION, bulk_insert_instance_resource_resource=body)
    )
    instances = cloud.client(compute_v1.InstancesClient)
    found = {
        one.name: one.zone
        for _, scoped in instances.aggregated_list(project=PROJECT)
        for one in scoped.instances
    }
    assert len(found) == 4
    assert len(set(found.values())) == 4


def test_the_console_of_an_instance(cloud: Cloud, instances):
    """What the machine wrote."""
    made = create(cloud)
    cloud.machines.consoles[str(made.id)] = "startup-script: hello\n"
    assert instances.get_serial_port_output(instance="vm", **PLACE).contents == "startup-script: hello\n"


def test_what_belongs_to_instances(cloud: Cloud):
    """Disks, addresses, images, templates, networks, types, zones, projects: each client's get and list."""
    disks = cloud.client(compute_v1.DisksClient)
    cloud.done(disks.insert_unary(disk_resource=compute_v1.Disk(name="data", size_gb=20), **PLACE))
    assert [one.size_gb for one in disks.list(**PLACE)] == [20]
    addresses = cloud.client(compute_v1.AddressesClient)
    cloud.done(
        addresses.insert_unary(project=PROJECT, region=REGION, address_resource=compute_v1.Address(name="ip"))
    )
    assert addresses.get(project=PROJECT, region=REGION, address="ip").status == "RESERVED"
    images = cloud.client(compute_v1.ImagesClient)
    assert images.get_from_family(project="debian-cloud", family="debian-12").status == "READY"
    templates = cloud.client(compute_v1.InstanceTemplatesClient)
    properties = compute_v1.InstanceProperties(machine_type="e2-small")
    template = compute_v1.InstanceTemplate(name="t", properties=properties)
    cloud.done(templates.insert_unary(project=PROJECT, instance_template_resource=template))
    assert templates.get(project=PROJECT, instance_template="t").properties.machine_type == "e2-small"
    machines = cloud.client(compute_v1.MachineTypesClient)
    assert machines.get(machine_type="a2-highgpu-1g", **PLACE).guest_cpus == 12
    gpus = cloud.client(compute_v1.AcceleratorTypesClient)
    assert "nvidia-tesla-t4" in [one.name for one in gpus.list(**PLACE)]
    zones = cloud.client(compute_v1.ZonesClient)
    assert ZONE in [one.name for one in zones.list(project=PROJECT)]
    networks = cloud.client(compute_v1.NetworksClient)
    assert [one.name for one in networks.list(project=PROJECT)] == ["default"]
    project = cloud.client(compute_v1.ProjectsClient).get(project=PROJECT)
    assert project.default_service_account.endswith("-compute@developer.gserviceaccount.com")


def test_what_governs_instances(cloud: Cloud, instances: compute_v1.InstancesClient):
    """Labels under their fingerprint, a stop by the id, and disks that are found by a label."""
    made = create(cloud, labels={"spotwarden-job": "j"})
    place = {**PLACE, "instance": str(made.id)}
    labels = {"spotwarden-job": "j", "idle": "60"}
    change = compute_v1.InstancesSetLabelsRequest(labels=labels, label_fingerprint=made.label_fingerprint)
    cloud.done(instances.set_labels_unary(instances_set_labels_request_resource=change, **place))
    assert dict(instances.get(**place).labels) == labels
    with pytest.raises(exceptions.PreconditionFailed):
        instances.set_labels_unary(instances_set_labels_request_resource=change, **place)
    cloud.done(instances.stop_unary(**place))
    assert instances.get(**place).status == "TERMINATED"
    disks = cloud.client(compute_v1.DisksClient)
    disk = compute_v1.Disk(name="data", size_gb=20, labels={"spotwarden-job": "j"})
    cloud.done(disks.insert_unary(disk_resource=disk, **PLACE))
    asked = compute_v1.AggregatedListDisksRequest(project=PROJECT, filter="labels.spotwarden-job:*")
    [found] = [one for _, scope in disks.aggregated_list(request=asked) for one in scope.disks]
    assert (found.name, list(found.users)) == ("data", [])
    assert disks.get(disk=str(found.id), **PLACE).name == "data"
    cloud.done(disks.delete_unary(disk=str(found.id), **PLACE))
    assert "data" not in [one.name for one in disks.list(**PLACE)]
