#!/bin/bash
cmd='gcloud compute instances create'
cmd="$cmd ev-a --zone=us-central1-a"
[ -z "$NOPE" ] && cmd="$cmd --description=\"made of parts\""
eval $cmd
for v in B C; do eval "NAME_$v=ev-$v"; eval "gcloud compute instances create \${NAME_$v,,} --zone=us-central1-a"; done
