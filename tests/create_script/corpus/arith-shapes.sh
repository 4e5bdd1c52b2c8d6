#!/bin/bash
base=$((2#1011)); hex=$((0xff >> 4)); big=$(( base > 10 ? base ** 2 : -1 ))
let total=base+hex 'total *= 2'
for ((i = 0, j = 10; i < 3; i++, j -= 3)); do
  (( i == 1 )) && continue
  gcloud compute instances create "n$((++count))-$j" --zone=us-central1-a --metadata=i=$i,left=$((j % 4))
done
gcloud compute instances create sum-$total --zone=us-central1-a --labels=big=$big,hex=$hex
