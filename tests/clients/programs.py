"""Beginnings of programs that run in the environment of a client, where nothing of ours can be imported."""

OPERATION = '''
import json, traceback

def operation(work):
    """Do it now, and say how it came out."""
    try:
        work()
        outcome = "passed"
    except Exception:
        outcome = traceback.format_exc(limit=-3)
    print(json.dumps({"operation": work.__name__, "outcome": outcome}), flush=True)
'''
"""Of a program of Python's: each function under `@operation` is one, and runs where it stands."""

PLUGIN = '''
import json, os

found = {}

def pytest_runtest_logreport(report):
    """A test that fails in any of its phases has failed."""
    path, _, test = report.nodeid.partition("::")
    name = os.path.basename(path) + "::" + test
    if report.failed:
        found[name] = str(report.longrepr)[-2000:]
    elif report.skipped or name not in found:
        found[name] = report.outcome

def pytest_sessionfinish():
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    with open(os.environ["OUTCOMES"], "w") as file:
        file.writelines(json.dumps({"operation": name, "outcome": found[name]}) + "\\n" for name in found)
'''
"""A plugin of pytest's, for suites of others: writes the outcome of each test into the file `OUTCOMES`."""

NODE_OPERATION = """
const assert = require('assert');

async function operations(all) {
  for (const [operation, work] of Object.entries(all)) {
    let outcome = 'passed';
    try {
      const late = new Promise((_, reject) => {
        setTimeout(() => reject(new Error("60 s have passed")), 60_000).unref();
      });
      await Promise.race([work(), late]);
    } catch (error) {
      outcome = String(error.stack || error);
    }
    console.log(JSON.stringify({operation, outcome}));
  }
}
"""
"""Of a program of Node's: each function of the object that `operations` gets is one, and runs in its turn."""
