#!/bin/bash
# One step, which is told by a heartbeat, and then a loop that never ends: busy, and of no use.
echo "step 1, loss 0.69"
date | gsutil -q cp - "gs://demo-jobs/hang/metadata/heartbeat/hang"
python3 -c "while True: pass"
