# Who watches the watchman: Monitoring, by metrics of the platform (requests, pushes, messages) and by our own log
# lines. docs/deploy/limits.md says what to do about each.

resource "google_monitoring_notification_channel" "ops" {
  display_name = "Spotwarden: ops"
  type         = "email"
  labels       = { email_address = var.alert_email }

  depends_on = [google_project_service.needed]
}

locals {
  channels = [google_monitoring_notification_channel.ops.id]

  services = {
    woken = join(", ", [for name in sort(keys(local.woken)) : "\"${local.deployed[name]}\""])
    asked = join(", ", [for name in sort(concat(keys(local.public), keys(local.private))) : "\"${local.deployed[name]}\""])
  }

  requests = "resource.type = \"cloud_run_revision\" AND metric.type = \"run.googleapis.com/request_count\""
  logs     = "resource.type=\"cloud_run_revision\" AND jsonPayload.function:*"

  # 503 says "look again in a moment", 429 is Cloud Run's own "all instances are busy", 401 and 403 are its "you may not"
  # (in both cases messages wait, and that is told of), 404 is all that strangers get of what only listens inside: none is
  # a failure of a function. One that people ask is also asked for what it never offered.
  failing = merge(
    { woken = "${local.requests} AND resource.labels.service_name = one_of(${local.services.woken}) AND metric.labels.response_code_class = one_of(\"4xx\", \"5xx\") AND metric.labels.response_code != \"401\" AND metric.labels.response_code != \"403\" AND metric.labels.response_code != \"404\" AND metric.labels.response_code != \"429\" AND metric.labels.response_code != \"503\"" },
    length(local.services.asked) == 0 ? {} : { asked = "${local.requests} AND resource.labels.service_name = one_of(${local.services.asked}) AND metric.labels.response_code_class = \"5xx\" AND metric.labels.response_code != \"503\"" },
  )

  # How many minutes are between two ticks, as far as the cron line says so; an hour where it says more. Ten minutes
  # of silence are too many, or three ticks where those are further apart. Each condition costs, so those of the same
  # patience share one.
  minutes = { for name, cron in local.schedules : name => cron == "* * * * *" ? 1 : try(tonumber(regex("^\\*/([0-9]+) \\* \\* \\* \\*$", cron)[0]), 60) }
  silence = { for name, step in local.minutes : max(10, 3 * step) => name... }
}

resource "google_monitoring_alert_policy" "failing" {
  for_each = local.failing

  display_name          = "Spotwarden: a function fails (${each.key})"
  combiner              = "OR"
  severity              = "ERROR"
  notification_channels = local.channels

  conditions {
    display_name = "more than two failures in 15 minutes"

    condition_threshold {
      filter          = each.value
      comparison      = "COMPARISON_GT"
      threshold_value = 2
      duration        = "0s"

      aggregations {
        alignment_period     = "900s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = ["resource.label.service_name"]
      }
    }
  }

  documentation {
    subject = "Spotwarden: $${resource.label.service_name} fails"
    content = "It failed three times in 15 minutes. Its log has the errors. One bad item never stops the others, and each sweep starts again. docs/deploy/limits.md, \"When an alert comes\"."
  }
}

resource "google_monitoring_alert_policy" "silent" {
  for_each = local.silence

  display_name          = "Spotwarden: no tick for ${each.key} minutes"
  combiner              = "OR"
  severity              = "CRITICAL"
  notification_channels = local.channels

  conditions {
    display_name = "a function took no message for ${each.key} minutes"

    # Taken, not sent: the Scheduler, the topic, the push and the function itself all had to work. Fewer than one, rather
    # than none at all: whether Pub/Sub goes on to write zeros, or nothing, must not matter.
    condition_threshold {
      filter          = "resource.type = \"pubsub_subscription\" AND resource.labels.subscription_id = one_of(${join(", ", [for name in each.value : "\"${local.topics[name]}\""])}) AND metric.type = \"pubsub.googleapis.com/subscription/push_request_count\" AND metric.labels.response_class = \"ack\""
      comparison      = "COMPARISON_LT"
      threshold_value = 1
      duration        = "60s"

      evaluation_missing_data = "EVALUATION_MISSING_DATA_ACTIVE"

      aggregations {
        alignment_period     = "${60 * each.key}s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = ["resource.label.subscription_id"]
      }
    }
  }

  documentation {
    subject = "Spotwarden: $${resource.label.subscription_id} gets no ticks"
    content = "Watched here: ${join(", ", each.value)}. Until this is fixed, its work isn't done. docs/deploy/limits.md, \"When an alert comes\"."
  }

  depends_on = [google_pubsub_subscription.function]
}

resource "google_monitoring_alert_policy" "dead_letters" {
  display_name          = "Spotwarden: dead letters"
  combiner              = "OR"
  severity              = "ERROR"
  notification_channels = local.channels

  conditions {
    display_name = "there are dead letters"

    condition_threshold {
      filter          = "resource.type = \"pubsub_subscription\" AND resource.labels.subscription_id = \"${google_pubsub_subscription.dead_letters.name}\" AND metric.type = \"pubsub.googleapis.com/subscription/num_undelivered_messages\""
      comparison      = "COMPARISON_GT"
      threshold_value = 0
      duration        = "0s"

      aggregations {
        alignment_period   = "60s"
        per_series_aligner = "ALIGN_MAX"
      }
    }
  }

  documentation {
    subject = "Spotwarden: undeliverable messages"
    content = "A function refused a message a hundred times. To see it: gcloud pubsub subscriptions pull ${google_pubsub_subscription.dead_letters.name} --project=${var.project} --limit=10. Drop a wake-up once the function works again. Publish a notice again."
  }
}

resource "google_monitoring_alert_policy" "waiting" {
  display_name          = "Spotwarden: messages wait"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = local.channels

  conditions {
    display_name = "a message waits for more than 15 minutes"

    condition_threshold {
      filter          = "resource.type = \"pubsub_subscription\" AND resource.labels.subscription_id = one_of(${join(", ", [for name in sort(keys(local.subscriptions)) : "\"${name}\""])}) AND metric.type = \"pubsub.googleapis.com/subscription/oldest_unacked_message_age\""
      comparison      = "COMPARISON_GT"
      threshold_value = 900
      duration        = "0s"

      aggregations {
        alignment_period   = "60s"
        per_series_aligner = "ALIGN_MAX"
      }
    }
  }

  documentation {
    subject = "Spotwarden: $${resource.label.subscription_id} does not keep up"
    content = "Either the function doesn't respond (see its log), or more is written than its instances can handle (variable most_instances)."
  }

  depends_on = [google_pubsub_subscription.function]
}

resource "google_monitoring_alert_policy" "api_calls" {
  display_name          = "Spotwarden: too many API calls"
  combiner              = "OR"
  severity              = "WARNING"
  notification_channels = local.channels

  conditions {
    display_name = "more than ${var.api_calls_a_minute} calls a minute, for five minutes"

    condition_threshold {
      filter          = "resource.type = \"consumed_api\" AND resource.labels.service = one_of(\"compute.googleapis.com\", \"monitoring.googleapis.com\") AND resource.labels.credential_id = one_of(${join(", ", [for name in sort(keys(local.functions)) : "\"serviceaccount:${google_service_account.function[name].unique_id}\""])}) AND metric.type = \"serviceruntime.googleapis.com/api/request_count\""
      comparison      = "COMPARISON_GT"
      threshold_value = var.api_calls_a_minute
      duration        = "300s"

      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = ["resource.label.service"]
      }
    }
  }

  documentation {
    subject = "Spotwarden: many calls to $${resource.label.service}"
    content = "The quota is shared with everybody in the project. docs/deploy/limits.md has the calls of a sweep, and the effect of a refusal."
  }
}

# --- What the functions say of themselves. One condition each: Monitoring takes no more with a match of a log.

locals {
  told = {
    blast_radius = {
      title    = "Spotwarden: more is due than the blast radius allows"
      severity = "CRITICAL"
      filter   = "(jsonPayload.kind=\"blast_radius\" OR jsonPayload.kind=\"approval_needed\")"
      period   = "3600s"
      content  = "More VMs are due than one sweep may act on. The next sweeps act on the rest, or one large gang waits for `spotwarden cases approve`. Check with `spotwarden cases list`. If a rule is wrong, set its mode to observe."
    }
    quarantine = {
      title    = "Spotwarden: the quarantine is not empty"
      severity = "WARNING"
      filter   = "(jsonPayload.action=\"Quarantine\" OR jsonPayload.metrics.quarantined>0)"
      period   = "86400s"
      content  = "A marker couldn't be used, so its job doesn't restart by itself. For the reason, run `spotwarden quarantine list`."
    }
    errors = {
      title    = "Spotwarden: a function wrote an error"
      severity = "WARNING"
      filter   = "severity>=ERROR"
      period   = "3600s"
      content  = "The log line says what couldn't be done."
    }
  }
}

resource "google_monitoring_alert_policy" "told" {
  for_each = local.told

  display_name          = each.value.title
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = local.channels

  conditions {
    display_name = each.value.title

    condition_matched_log {
      filter           = "${local.logs} AND ${each.value.filter}"
      label_extractors = { function = "EXTRACT(jsonPayload.function)" }
    }
  }

  alert_strategy {
    auto_close = "86400s"

    notification_rate_limit {
      period = each.value.period
    }
  }

  documentation {
    content = each.value.content
  }

  depends_on = [google_project_service.needed]
}
