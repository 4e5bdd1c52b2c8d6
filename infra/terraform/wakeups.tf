# What wakes a function ends in its one topic (bucket notification, audit log, Scheduler), or in one that it shares, and
# reaches it by a push with a token. Retries and dead letters are said here.

resource "google_pubsub_topic" "function" {
  for_each = local.topics

  name = each.value

  depends_on = [google_project_service.needed]
}

# What people are told, and whatever else is for more than one reader.
resource "google_pubsub_topic" "shared" {
  for_each = local.manifest.topics

  name = each.value

  depends_on = [google_project_service.needed]
}

# Whoever publishes to a topic is waited for before anything is pushed from it, and the topic's id stands here once.
locals {
  topic_ids = merge(
    { for topic in google_pubsub_topic.function : topic.name => topic.id },
    { for topic in google_pubsub_topic.shared : topic.name => topic.id },
  )
}

resource "google_pubsub_subscription" "function" {
  for_each = local.subscriptions

  name  = each.key
  topic = local.topic_ids[each.value.topic]

  # As long as the function may run, lest Pub/Sub asks a second instance while the first is at it. 600 s is the most.
  ack_deadline_seconds = min(600, max(10, local.functions[each.value.function].timeout_seconds))

  # A wake-up only says "look now": after a day nobody needs it. What people are to be told is kept for a month.
  message_retention_duration = each.value.shared == "" ? "86400s" : "2678400s"

  push_config {
    # The path is for the CloudEvent that the function makes of a push: its source is the topic.
    push_endpoint = "${local.uris[each.value.function]}/${local.topic_ids[each.value.topic]}"

    oidc_token {
      service_account_email = google_service_account.invoker.email
      audience              = local.uris[each.value.function]
    }
  }

  retry_policy {
    minimum_backoff = "${local.functions[each.value.function].retry.minimum_seconds}s"
    maximum_backoff = "${local.functions[each.value.function].retry.maximum_seconds}s"
  }

  dead_letter_policy {
    dead_letter_topic = google_pubsub_topic.dead_letters.id

    # The most there is: "look again in a moment" is an answer of its own (503), which an event may get for minutes.
    max_delivery_attempts = 100
  }

  # Never: it would be found out by the job that is not brought back.
  expiration_policy {
    ttl = ""
  }

  depends_on = [google_service_account_iam_member.tokens]
}



# --- What could not be delivered: kept for a month, and told of (alerts.tf).

resource "google_pubsub_topic" "dead_letters" {
  name = "spotwarden-dead-letters"

  depends_on = [google_project_service.needed]
}

resource "google_pubsub_subscription" "dead_letters" {
  name                       = "spotwarden-dead-letters"
  topic                      = google_pubsub_topic.dead_letters.id
  message_retention_duration = "2678400s"

  expiration_policy {
    ttl = ""
  }
}

# Pub/Sub moves a dead letter in its own name: it publishes it there, and acknowledges it here.
resource "google_pubsub_topic_iam_member" "dead_letters" {
  topic  = google_pubsub_topic.dead_letters.name
  role   = "roles/pubsub.publisher"
  member = local.pubsub_agent
}

resource "google_pubsub_subscription_iam_member" "dead_letters" {
  for_each = google_pubsub_subscription.function

  subscription = each.value.name
  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent
}

# --- A marker is written: the bucket tells the topic. Cloud Storage publishes in the name of its own agent.

data "google_storage_project_service_account" "agent" {
  project = var.project

  depends_on = [google_project_service.needed]
}

resource "google_pubsub_topic_iam_member" "bucket" {
  for_each = toset([for one in values(local.notifications) : one.function])

  topic  = google_pubsub_topic.function[each.key].name
  role   = "roles/pubsub.publisher"
  member = data.google_storage_project_service_account.agent.member
}

resource "google_storage_notification" "function" {
  for_each = local.notifications

  bucket             = data.google_storage_bucket.jobs.name
  topic              = google_pubsub_topic.function[each.value.function].id
  event_types        = [each.value.event]
  object_name_prefix = "${var.prefix}${each.value.below}"
  payload_format     = "JSON_API_V1"

  depends_on = [google_pubsub_topic_iam_member.bucket]
}

# --- Compute Engine does something: a sink takes it from the audit log to the topic, in a name of its own.

resource "google_logging_project_sink" "function" {
  for_each = local.log_sinks

  name                   = local.topics[each.key]
  destination            = "pubsub.googleapis.com/${google_pubsub_topic.function[each.key].id}"
  filter                 = each.value
  unique_writer_identity = true
}

resource "google_pubsub_topic_iam_member" "sink" {
  for_each = google_logging_project_sink.function

  topic  = google_pubsub_topic.function[each.key].name
  role   = "roles/pubsub.publisher"
  member = each.value.writer_identity
}

# --- The time has come: a tick.

resource "google_cloud_scheduler_job" "tick" {
  for_each = local.schedules

  name        = local.topics[each.key]
  description = "Wakes ${each.key}"
  region      = var.scheduler_region != "" ? var.scheduler_region : var.region
  schedule    = each.value
  time_zone   = "Etc/UTC"

  pubsub_target {
    topic_name = google_pubsub_topic.function[each.key].id
    attributes = { spotwarden-tick = each.key }

    # Never empty: functions-framework takes a push without data for no event of Pub/Sub, and answers 400.
    data = base64encode("{}")
  }
}
