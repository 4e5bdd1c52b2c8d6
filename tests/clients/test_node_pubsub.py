"""Node's @google-cloud/pubsub."""

from tests.clients.installing import node
from tests.clients.lane import asked, play, program
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import NODE_OPERATION

pytestmark = asked

PROGRAM = f"""{NODE_OPERATION}
const {{PubSub}} = require('@google-cloud/pubsub');
const pubsub = new PubSub({{projectId: 'demo-project'}});

function heard(subscription, count) {{
  return new Promise((resolve, reject) => {{
    const messages = [];
    subscription.on('error', reject);
    subscription.on('message', message => {{
      message.ack();
      messages.push(message);
      if (messages.length === count) resolve(messages);
    }});
  }});
}}

operations({{
  async make_a_topic_and_a_subscription() {{
    const [topic] = await pubsub.createTopic('news');
    await topic.createSubscription('reader', {{enableMessageOrdering: true}});
    const [topics] = await pubsub.getTopics();
    assert.deepEqual(topics.map(each => each.name), ['projects/demo-project/topics/news']);
  }},
  async publish_and_hear() {{
    const subscription = pubsub.subscription('reader');
    const coming = heard(subscription, 3);
    const topic = pubsub.topic('news', {{messageOrdering: true}});
    for (const word of ['one', 'two', 'three']) {{
      await topic.publishMessage({{data: Buffer.from(word), attributes: {{step: '17'}}, orderingKey: 'k'}});
    }}
    const messages = await coming;
    assert.deepEqual(messages.map(each => each.data.toString()), ['one', 'two', 'three']);
    assert.equal(messages[0].attributes.step, '17');
    await subscription.close();
  }},
  async what_is_not_acknowledged_comes_again() {{
    const subscription = pubsub.subscription('reader');
    const attempts = new Promise(resolve => {{
      let count = 0;
      subscription.on('message', message => {{
        count += 1;
        if (count === 1) message.nack();
        else {{ message.ack(); resolve(count); }}
      }});
    }});
    await pubsub.topic('news').publishMessage({{data: Buffer.from('again')}});
    assert.equal(await attempts, 2);
    await subscription.close();
  }},
  async filters_and_settings() {{
    const options = {{filter: 'attributes.kind = "loss"', ackDeadlineSeconds: 77}};
    const [subscription] = await pubsub.topic('news').createSubscription('losses', options);
    const coming = heard(subscription, 1);
    await pubsub.topic('news').publishMessage({{data: Buffer.from('no'), attributes: {{kind: 'gain'}}}});
    await pubsub.topic('news').publishMessage({{data: Buffer.from('yes'), attributes: {{kind: 'loss'}}}});
    const [message] = await coming;
    assert.equal(message.data.toString(), 'yes');
    const [told] = await subscription.getMetadata();
    assert.equal(told.ackDeadlineSeconds, 77);
    await subscription.close();
  }},
  async iam() {{
    const bindings = [{{role: 'roles/pubsub.viewer', members: ['user:ada@example.com']}}];
    await pubsub.topic('news').iam.setPolicy({{bindings}});
    const [policy] = await pubsub.topic('news').iam.getPolicy();
    assert.equal(policy.bindings[0].role, 'roles/pubsub.viewer');
  }},
  async what_is_not_there_is_refused() {{
    await assert.rejects(pubsub.topic('nothing').getMetadata(), {{code: 5}});
    await assert.rejects(pubsub.createTopic('news'), {{code: 6}});
  }},
  async remove_everything() {{
    await pubsub.subscription('reader').delete();
    await pubsub.subscription('losses').delete();
    await pubsub.topic('news').delete();
    assert.deepEqual(await pubsub.topic('news').exists(), [false]);
  }},
}}).then(() => process.exit());
"""


def test_nodes_pubsub_does_what_is_expected(cloud, home):
    """With PUBSUB_EMULATOR_HOST and nothing else."""
    wanted = expected("node_pubsub")
    program("npm")
    modules = node("node_pubsub", wanted.install) / "node_modules"
    done = play([program("node", "nodejs"), "-e", PROGRAM], cloud, home, more={"NODE_PATH": str(modules)})
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
