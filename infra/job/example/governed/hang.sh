#!/bin/bash
# One step, and then a loop that never ends: busy, and of no use.
echo "step 1, loss 0.69"
python3 -c "while True: pass"
