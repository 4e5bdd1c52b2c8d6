"""Node's @google-cloud/storage."""

from tests.clients.installing import node
from tests.clients.lane import asked, play, program
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import NODE_OPERATION

pytestmark = asked

PROGRAM = f"""{NODE_OPERATION}
const {{Storage}} = require('@google-cloud/storage');
const storage = new Storage({{projectId: 'demo-project'}});
const bucket = storage.bucket('from-node');

operations({{
  async make_a_bucket() {{
    await storage.createBucket('from-node');
    const [buckets] = await storage.getBuckets();
    assert.deepEqual(buckets.map(each => each.name), ['from-node']);
  }},
  async save_and_download() {{
    await bucket.file('a/é 1').save('weights', {{resumable: false}});
    const [data] = await bucket.file('a/é 1').download();
    assert.equal(data.toString(), 'weights');
  }},
  async save_resumably() {{
    const large = Buffer.alloc(3_000_000, 7);
    await bucket.file('large').save(large, {{resumable: true, chunkSize: 2 ** 20}});
    const [part] = await bucket.file('large').download({{start: 2_999_999}});
    assert.deepEqual([...part], [7]);
  }},
  async stream() {{
    const {{pipeline}} = require('stream/promises');
    const file = bucket.file('streamed');
    await pipeline(require('stream').Readable.from(['one', 'two']), file.createWriteStream());
    const parts = [];
    for await (const part of file.createReadStream()) parts.push(part);
    assert.equal(Buffer.concat(parts).toString(), 'onetwo');
  }},
  async list_by_prefix() {{
    const [files, , answer] = await bucket.getFiles({{delimiter: '/', autoPaginate: false}});
    assert.deepEqual(files.map(each => each.name), ['large', 'streamed']);
    assert.deepEqual(answer.prefixes, ['a/']);
  }},
  async only_where_nothing_is() {{
    const options = {{resumable: false, preconditionOpts: {{ifGenerationMatch: 0}}}};
    await assert.rejects(bucket.file('streamed').save('other', options), {{code: 412}});
  }},
  async metadata() {{
    await bucket.file('streamed').setMetadata({{metadata: {{step: '17'}}}});
    const [told] = await bucket.file('streamed').getMetadata();
    assert.deepEqual([told.metadata.step, told.metageneration], ['17', 2]);
  }},
  async copy_move_and_combine() {{
    await bucket.file('streamed').copy(bucket.file('copied'));
    await bucket.file('copied').move('moved');
    await bucket.combine(['moved', 'streamed'], 'both');
    const [data] = await bucket.file('both').download();
    assert.equal(data.toString(), 'onetwoonetwo');
    assert.deepEqual(await bucket.file('copied').exists(), [false]);
  }},
  async versions() {{
    await bucket.setMetadata({{versioning: {{enabled: true}}}});
    await bucket.file('both').save('newer', {{resumable: false}});
    const [files] = await bucket.getFiles({{prefix: 'both', versions: true}});
    assert.equal(files.length, 2);
    await bucket.setMetadata({{versioning: {{enabled: false}}}});
  }},
  async iam_and_labels() {{
    await bucket.setLabels({{team: 'eyes'}});
    assert.deepEqual(await bucket.getLabels(), [{{team: 'eyes'}}]);
    const [policy] = await bucket.iam.getPolicy();
    policy.bindings.push({{role: 'roles/storage.objectViewer', members: ['user:ada@example.com']}});
    const [changed] = await bucket.iam.setPolicy(policy);
    assert.equal(changed.bindings.at(-1).role, 'roles/storage.objectViewer');
  }},
  async remove_everything() {{
    await bucket.deleteFiles({{versions: true}});
    await bucket.delete();
    assert.deepEqual(await bucket.exists(), [false]);
  }},
}});
"""


def test_nodes_storage_does_what_is_expected(cloud, home):
    """With STORAGE_EMULATOR_HOST and nothing else."""
    wanted = expected("node_storage")
    program("npm")
    modules = node("node_storage", wanted.install) / "node_modules"
    done = play([program("node", "nodejs"), "-e", PROGRAM], cloud, home, more={"NODE_PATH": str(modules)})
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
