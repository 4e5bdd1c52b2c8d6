# One function: the service, who it is, what it is told, and who may call it.
resource "google_cloudfunctions2_function" "function" {
  project     = var.project
  name        = replace(var.function.name, "_", "-")
  location    = var.region
  description = var.function.does

  # What it is made of, for `spotwarden doctor`: the checksum, as far as a label is long.
  labels = { archive = substr(basename(var.archive.name), 0, 40) }

  build_config {
    runtime           = var.runtime
    entry_point       = var.function.name
    service_account   = var.builder
    docker_repository = var.repository

    # Any number does: compiled files then fit their sources by content, for the image gives all files one date.
    environment_variables = { SOURCE_DATE_EPOCH = "315532801" }

    source {
      storage_source {
        bucket = var.archive.bucket
        object = var.archive.name
      }
    }
  }

  service_config {
    available_memory      = var.function.memory
    available_cpu         = var.cpu
    timeout_seconds       = var.function.timeout_seconds
    max_instance_count    = var.most
    service_account_email = var.identity

    # One sweep at a time in an instance: its memory is reckoned for one, and so is the platform's default.
    max_instance_request_concurrency = 1

    # Pub/Sub of the same project counts as internal; only what people open is reached from outside.
    ingress_settings = var.outside ? "ALLOW_ALL" : "ALLOW_INTERNAL_ONLY"

    # The platform adds the first by itself; said here, it is no difference at the next plan. By the second the
    # threads of a sweep share what one of them has freed (mallopt(3)), else each keeps memory of its own.
    environment_variables = merge(
      { LOG_EXECUTION_ID = "true", MALLOC_ARENA_MAX = "1" },
      { for name, value in var.environment : name => value if value != "" },
    )

    dynamic "secret_environment_variables" {
      for_each = var.secrets

      content {
        key        = secret_environment_variables.key
        project_id = var.project
        secret     = secret_environment_variables.value.id
        version    = secret_environment_variables.value.version
      }
    }
  }
}

# A 2nd-generation function is called as the Cloud Run service under it.
resource "google_cloud_run_v2_service_iam_member" "invoker" {
  project  = var.project
  location = google_cloudfunctions2_function.function.location
  name     = google_cloudfunctions2_function.function.name
  role     = "roles/run.invoker"
  member   = var.invoker
}
