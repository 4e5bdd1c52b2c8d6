#!/bin/bash
NAME=wn

gcloud compute instances create ${NAME%?} --zone=us-central1-a --description=x"$NAME"y --tags=t #
