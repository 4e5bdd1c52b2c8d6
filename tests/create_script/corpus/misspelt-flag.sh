gcloud compute instances create misspelt --zone=us-central1-a --machine-typ=e2-small
