#!/bin/bash
for z in a b c; do
  for k in 1 2 3; do
    [ $k = 2 ] && continue 2
    [ $z = c ] && break 2
    gcloud compute instances create "lc-$z$k" --zone=us-central1-$z
  done
done
set -- x y
until [ $# -eq 0 ]; do gcloud compute instances create "arg-$1" --zone=us-central1-a; shift; done
