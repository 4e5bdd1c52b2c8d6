# Each function as a service of its own, from its staged archive. None has an Eventarc trigger: what wakes it is in
# wakeups.tf, with retries and dead letters of our own, as on the local cloud.

module "public" {
  source   = "./service"
  for_each = local.public

  function    = each.value
  project     = var.project
  region      = var.region
  runtime     = var.runtime
  archive     = google_storage_bucket_object.archive[each.key]
  repository  = google_artifact_registry_repository.images.id
  builder     = google_service_account.builder.id
  identity    = google_service_account.function[each.key].email
  outside     = true
  invoker     = var.links ? "allUsers" : google_service_account.invoker.member
  cpu         = var.cpu
  most        = var.most_instances
  environment = local.environment
  secrets     = local.secrets_of[each.key]

  depends_on = [
    google_project_iam_member.builder,
    google_artifact_registry_repository_iam_member.builder,
    google_secret_manager_secret_iam_member.reader,
  ]
}

module "private" {
  source   = "./service"
  for_each = local.private

  function    = each.value
  project     = var.project
  region      = var.region
  runtime     = var.runtime
  archive     = google_storage_bucket_object.archive[each.key]
  repository  = google_artifact_registry_repository.images.id
  builder     = google_service_account.builder.id
  identity    = google_service_account.function[each.key].email
  outside     = true
  invoker     = google_service_account.invoker.member
  cpu         = var.cpu
  most        = var.most_instances
  environment = local.environment
  secrets     = local.secrets_of[each.key]

  depends_on = [
    google_project_iam_member.builder,
    google_artifact_registry_repository_iam_member.builder,
    google_secret_manager_secret_iam_member.reader,
  ]
}

# Whom IAM lets read what a private function shows: nobody unless named. `gcloud run services proxy` opens it then.
resource "google_cloud_run_v2_service_iam_member" "viewer" {
  for_each = { for pair in setproduct(keys(local.private), var.viewers) : "${pair[0]}/${pair[1]}" => { function = pair[0], member = pair[1] } }

  project  = var.project
  location = var.region
  name     = module.private[each.value.function].name
  role     = "roles/run.invoker"
  member   = each.value.member
}

module "woken" {
  source   = "./service"
  for_each = local.woken

  function    = each.value
  project     = var.project
  region      = var.region
  runtime     = var.runtime
  archive     = google_storage_bucket_object.archive[each.key]
  repository  = google_artifact_registry_repository.images.id
  builder     = google_service_account.builder.id
  identity    = google_service_account.function[each.key].email
  outside     = false
  invoker     = google_service_account.invoker.member
  cpu         = var.cpu
  most        = var.most_instances
  environment = merge(local.environment, contains(try(each.value.secrets, []), "SPOTWARDEN_SMTP") ? local.post : {})
  secrets     = local.secrets_of[each.key]

  depends_on = [
    google_project_iam_member.builder,
    google_artifact_registry_repository_iam_member.builder,
    google_secret_manager_secret_iam_member.reader,
  ]
}

locals {
  # What every function is told (shared/spotwarden/engine/settings.py); policy and prices are in the archive.
  environment = {
    SPOTWARDEN_PROJECT = var.project
    SPOTWARDEN_BUCKET  = var.bucket
    SPOTWARDEN_PREFIX  = var.prefix
    SPOTWARDEN_NOTICES = local.manifest.topics.notices
    SPOTWARDEN_MODE    = var.mode
    SPOTWARDEN_OPS     = var.alert_email
  }

  # Who sends mails is told more: in whose name, and where answers go. Links are signed; without keys there are none, nor
  # where nobody could follow them.
  post = {
    SPOTWARDEN_MAIL_FROM = var.mail_from
    SPOTWARDEN_ANSWERS   = contains(keys(var.secret_versions), "SPOTWARDEN_SIGNING_KEYS") ? local.answers : ""
  }

  uris = merge(
    { for name, one in module.public : name => one.uri },
    { for name, one in module.private : name => one.uri },
    { for name, one in module.woken : name => one.uri },
  )
  report  = try("${module.private["report_jobs"].uri}/", "")
  answers = var.links ? try("${module.public["answer_notice"].uri}/", "") : ""

  # Secrets of which a version is named; the others are left out, and the function says what it lacks.
  secrets_of = {
    for name, row in local.functions : name => {
      for variable in try(row.secrets, []) : variable => {
        id      = google_secret_manager_secret.secret[variable].secret_id
        version = var.secret_versions[variable]
      } if contains(keys(var.secret_versions), variable)
    }
  }
}

# --- What the functions are built from: archives, named by their checksums, so that what has not changed is not
# deployed again.

resource "google_storage_bucket" "staging" {
  name                        = "${var.project}-spotwarden-staging"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = true

  soft_delete_policy {
    retention_duration_seconds = 0
  }

  depends_on = [google_project_service.needed]
}

resource "google_storage_bucket_object" "archive" {
  for_each = local.functions

  bucket = google_storage_bucket.staging.name
  name   = "${each.key}/${filesha256("${var.build}/${each.key}.zip")}.zip"
  source = "${var.build}/${each.key}.zip"
}

# --- Who builds: an account that can write logs and images, and read sources; by default it would be Compute
# Engine's own, which in many projects may do anything.

resource "google_service_account" "builder" {
  account_id   = "spotwarden-builder"
  display_name = "Spotwarden: builds the functions"

  depends_on = [google_project_service.needed]
}

resource "google_project_iam_member" "builder" {
  for_each = {
    "roles/logging.logWriter" = []
    # Cloud Functions copies each archive into a bucket of its own, and builds from there.
    "roles/storage.objectViewer" = ["resource.name.startsWith(\"projects/_/buckets/gcf-v2-\")"]
  }

  project = var.project
  role    = each.key
  member  = google_service_account.builder.member

  dynamic "condition" {
    for_each = each.value

    content {
      title      = "sources of functions only"
      expression = condition.value
    }
  }
}

resource "google_artifact_registry_repository" "images" {
  repository_id = "spotwarden"
  location      = var.region
  format        = "DOCKER"
  description   = "Images of Spotwarden's functions"

  # Each deployment leaves an image behind; three of each are enough to look back.
  cleanup_policies {
    id     = "keep-newest"
    action = "KEEP"

    most_recent_versions {
      keep_count = 3
    }
  }

  cleanup_policies {
    id     = "delete-older"
    action = "DELETE"

    condition {
      older_than = "2592000s"
    }
  }

  depends_on = [google_project_service.needed]
}

resource "google_artifact_registry_repository_iam_member" "builder" {
  project    = var.project
  location   = google_artifact_registry_repository.images.location
  repository = google_artifact_registry_repository.images.name
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.builder.member
}
