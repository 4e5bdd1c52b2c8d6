# What each sweep says of itself at its end (`metrics` of its last log line), as metrics: for the dashboard, and for
# whatever else a team wants to be told of.

locals {
  measured = {
    sweep_seconds         = { unit = "s", field = "seconds", what = "How long a sweep took" }
    actions               = { unit = "1", field = "actions", what = "How much a sweep did" }
    failures              = { unit = "1", field = "failures", what = "How much a sweep could not do" }
    api_calls             = { unit = "1", field = "calls", what = "How often a sweep asked Google" }
    memory_mib            = { unit = "MiBy", field = "memory_mib", what = "The most memory that the process had, so far" }
    oldest_marker_seconds = { unit = "s", field = "oldest_marker_seconds", what = "How old the oldest marker was that a sweep found" }
    oldest_notice_seconds = { unit = "s", field = "oldest_notice_seconds", what = "How long the oldest notice has waited to be sent" }
    quarantined           = { unit = "1", field = "quarantined", what = "How many markers were in quarantine" }
  }
}

resource "google_logging_metric" "sweep" {
  for_each = local.measured

  name            = "spotwarden/${each.key}"
  description     = each.value.what
  filter          = "${local.logs} AND jsonPayload.event=\"sweep\" AND jsonPayload.metrics.${each.value.field}>=0"
  value_extractor = "EXTRACT(jsonPayload.metrics.${each.value.field})"
  label_extractors = {
    function = "EXTRACT(jsonPayload.function)"
  }

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "DISTRIBUTION"
    unit        = each.value.unit

    labels {
      key        = "function"
      value_type = "STRING"
    }
  }

  # From a thousandth to about a million, each bound twice the one before.
  bucket_options {
    exponential_buckets {
      num_finite_buckets = 30
      growth_factor      = 2
      scale              = 0.001
    }
  }

  depends_on = [google_project_service.needed]
}
