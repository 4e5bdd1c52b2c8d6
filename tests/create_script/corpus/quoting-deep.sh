#!/bin/bash
a='sin"gle' b="dou'ble"
gcloud compute inst"anc"es create q\uote''d"" --zone=us-central1-a \
  --description="say \"$a\" and \$5, \\ or \`nothing\`" \
  --metadata=$'tabs=a\tb',x="$b",y='it'"'"'s',z=$'\x41\u00e9\'',w=\#no\ comment
