# The places for secrets, and who may read which. What is in them is never here, nor in the state: deploy.sh adds a
# version of each (`gcloud secrets versions add`) and names its number in `secret_versions`.

resource "google_secret_manager_secret" "secret" {
  for_each = local.secrets

  secret_id = lower(replace(each.key, "_", "-"))

  replication {
    auto {}
  }

  depends_on = [google_project_service.needed]
}

resource "google_secret_manager_secret_iam_member" "reader" {
  for_each = local.secret_readers

  secret_id = google_secret_manager_secret.secret[each.value.variable].id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.value.function].member
}

# Links in mails carry a token, and Cloud Run logs the address of every request: those of public functions are not kept.
# How many there were, and how they were answered, is a metric all the same.
resource "google_logging_project_exclusion" "links" {
  for_each = local.public

  name        = "spotwarden-${local.deployed[each.key]}-requests"
  description = "The addresses that ${each.key} is asked for hold tokens"
  filter      = "resource.type=\"cloud_run_revision\" AND resource.labels.service_name=\"${local.deployed[each.key]}\" AND log_id(\"run.googleapis.com/requests\")"

  depends_on = [google_project_service.needed]
}
