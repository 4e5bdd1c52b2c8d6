"""Node's @google-cloud/compute."""

from tests.clients.installing import node
from tests.clients.lane import asked, play, program
from tests.clients.outcomes import differences, expected, of_lines

pytestmark = asked

PROGRAM = """
const assert = require('assert');
const compute = require('@google-cloud/compute').v1;
const url = new URL(process.env.SPOTWARDEN_LOCAL_URL);
const options = {fallback: true, apiEndpoint: url.hostname, port: Number(url.port), protocol: 'http'};
const [project, zone] = ['demo-project', 'us-central1-a'];
const instances = new compute.InstancesClient(options);
const disks = new compute.DisksClient(options);
const waiting = new compute.ZoneOperationsClient(options);

async function done([operation]) {
  const {name} = operation.latestResponse;
  const [found] = await waiting.wait({project, zone, operation: name});
  assert.equal(found.status, 'DONE');
}

const one = {project, zone, instance: 'one'};
const status = async () => (await instances.get(one))[0].status;
const sourceImage = 'projects/debian-cloud/global/images/family/debian-12';
const instanceResource = {
  name: 'one', machineType: `zones/${zone}/machineTypes/e2-small`, labels: {team: 'eyes'},
  disks: [{boot: true, autoDelete: true, initializeParams: {sourceImage}}],
  networkInterfaces: [{network: 'global/networks/default'}],
  scheduling: {provisioningModel: 'SPOT', instanceTerminationAction: 'STOP'},
};

const all = {
  async the_project() {
    const client = new compute.ProjectsClient(options);
    assert.equal((await client.get({project}))[0].name, project);
    assert.equal(await client.getProjectId(), project);
  },
  async insert_and_wait() {
    await done(await instances.insert({project, zone, instanceResource}));
    assert.equal(await status(), 'RUNNING');
  },
  async a_taken_name() {
    await assert.rejects(instances.insert({project, zone, instanceResource}), /already exists/);
  },
  async list_with_a_filter() {
    const [found] = await instances.list({project, zone, filter: 'labels.team=eyes'});
    assert.deepEqual(found.map(each => each.name), ['one']);
    assert.deepEqual((await instances.list({project, zone, filter: 'labels.team=ears'}))[0], []);
  },
  async list_over_all_zones() {
    const names = [];
    for await (const [, part] of instances.aggregatedListAsync({project}))
      names.push(...(part.instances || []).map(each => each.name));
    assert.deepEqual(names, ['one']);
  },
  async set_labels() {
    const [{labelFingerprint}] = await instances.get(one);
    const instancesSetLabelsRequestResource = {labels: {team: 'ears'}, labelFingerprint};
    await done(await instances.setLabels({...one, instancesSetLabelsRequestResource}));
    assert.deepEqual((await instances.get(one))[0].labels, {team: 'ears'});
  },
  async see_a_preemption() {
    const headers = {'content-type': 'application/json'};
    await fetch(`${url}local/preempt`, {method: 'POST', headers, body: JSON.stringify({node: 'one'})});
    while (await status() !== 'TERMINATED');
  },
  async start_and_stop() {
    await done(await instances.start(one));
    assert.equal(await status(), 'RUNNING');
    await done(await instances.stop(one));
    assert.equal(await status(), 'TERMINATED');
  },
  async a_disk() {
    await done(await disks.insert({project, zone, diskResource: {name: 'data', sizeGb: '20'}}));
    assert.equal((await disks.get({project, zone, disk: 'data'}))[0].sizeGb, '20');
    await done(await disks.delete({project, zone, disk: 'data'}));
  },
  async remove() {
    await done(await instances.delete(one));
    await assert.rejects(instances.get(one), /was not found/);
  },
};

(async () => {
  for (const [operation, work] of Object.entries(all)) {
    let outcome = 'passed';
    try {
      await work();
    } catch (error) {
      outcome = String(error.stack || error);
    }
    console.log(JSON.stringify({operation, outcome}));
  }
})();
"""


def test_nodes_compute_does_what_is_expected(cloud, home):
    """With the metadata server's credentials, and the endpoint in its documented options."""
    wanted = expected("node_compute")
    program("npm")
    modules = node("node_compute", wanted.install) / "node_modules"
    done = play([program("node", "nodejs"), "-e", PROGRAM], cloud, home, more={"NODE_PATH": str(modules)})
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
