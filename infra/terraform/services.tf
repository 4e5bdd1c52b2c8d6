# The APIs that are needed. They stay on when Spotwarden goes: something else may use them by then.
resource "google_project_service" "needed" {
  for_each = toset(concat([
    "artifactregistry.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudfunctions.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "cloudscheduler.googleapis.com",
    "compute.googleapis.com",
    "iam.googleapis.com",
    "iamcredentials.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "pubsub.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "storage.googleapis.com",
  ], var.billing_account == "" ? [] : ["billingbudgets.googleapis.com"]))

  project            = var.project
  service            = each.key
  disable_on_destroy = false
}
