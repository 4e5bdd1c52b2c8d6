#!/bin/bash
name=plain zone=us-central1-f
parse() {
  local OPTIND opt
  while getopts ":n:z:s" opt; do
    case $opt in n) name=$OPTARG;; z) zone=$OPTARG;; s) spot=--provisioning-model=SPOT;; :) echo "needs a value";; \?) echo "what is -$OPTARG";; esac
  done
  shift $((OPTIND - 1)); rest=("$@")
}
parse "$@"
gcloud compute instances create $name --zone=$zone $spot
parse -sn clustered -z us-central1-b -q more words
gcloud compute instances create $name --zone=$zone $spot --labels=rest=${#rest[@]}
