#!/bin/bash
BUCKET=gs://harbor-data
RUN=r7
read -r -d '' BOOT <<-END
	#!/bin/bash
	gsutil -m cp -r $BUCKET/$RUN /data
	for f in /data/*; do echo "\$f"; done
	echo \`date\` $((6 * 7))
END
gcloud compute instances create reader-$RUN --zone=us-central1-b --metadata="^:::^startup-script=$BOOT:::run=$RUN"
