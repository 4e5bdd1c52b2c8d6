#!/bin/bash
if [ -f boot.sh -a ! -d boot.sh ] && test -s boot.sh; then F=--metadata-from-file=startup-script=boot.sh; fi
[ \( 1 -eq 1 -o 2 -eq 3 \) -a "x" != "y" ] && T=--tags=ok
[ -e missing.sh ] || N=--labels=missing=yes
gcloud compute instances create tested --zone=us-central1-a $F $T $N
