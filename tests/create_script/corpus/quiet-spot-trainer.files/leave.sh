#!/bin/bash
gsutil cp /dev/null gs://harbor-jobs/preempted-jobs/$(hostname)
