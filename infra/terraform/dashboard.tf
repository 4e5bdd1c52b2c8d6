# One page that says whether Spotwarden is well: what it does on the left, what it costs the APIs on the right.

locals {
  own_metric = "logging.googleapis.com/user/spotwarden"

  charts = [
    {
      title = "Sweeps: seconds, 95th percentile"
      lines = [{ filter = "metric.type=\"${local.own_metric}/sweep_seconds\"", align = "ALIGN_PERCENTILE_95", by = "metric.label.function" }]
    },
    {
      title = "Calls to Google per minute, by service"
      lines = [{ filter = "resource.type=\"consumed_api\" AND metric.type=\"serviceruntime.googleapis.com/api/request_count\" AND resource.labels.credential_id=one_of(${join(",", [for name in sort(keys(local.functions)) : "\"serviceaccount:${google_service_account.function[name].unique_id}\""])})", align = "ALIGN_DELTA", by = "resource.label.service" }]
    },
    {
      title = "Actions"
      lines = [{ filter = "metric.type=\"${local.own_metric}/actions\"", align = "ALIGN_PERCENTILE_99", by = "metric.label.function" }]
    },
    {
      title = "Failures"
      lines = [{ filter = "metric.type=\"${local.own_metric}/failures\"", align = "ALIGN_PERCENTILE_99", by = "metric.label.function" }]
    },
    {
      title = "Age of the oldest marker, and of the oldest notice not sent, seconds"
      lines = [for kind in ["marker", "notice"] : { filter = "metric.type=\"${local.own_metric}/oldest_${kind}_seconds\"", align = "ALIGN_PERCENTILE_99", by = "metric.label.function" }]
    },
    {
      title = "Markers in quarantine, and dead letters"
      lines = [
        { filter = "metric.type=\"${local.own_metric}/quarantined\"", align = "ALIGN_PERCENTILE_99", by = "metric.label.function" },
        { filter = "resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=\"${google_pubsub_subscription.dead_letters.name}\" AND metric.type=\"pubsub.googleapis.com/subscription/num_undelivered_messages\"", align = "ALIGN_MAX", by = "resource.label.subscription_id" },
      ]
    },
    {
      title = "Messages: how they were answered"
      lines = [{ filter = "resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=monitoring.regex.full_match(\"spotwarden-.*\") AND metric.type=\"pubsub.googleapis.com/subscription/push_request_count\"", align = "ALIGN_DELTA", by = "metric.label.response_class" }]
    },
    {
      title = "Memory in use, share of what there is"
      lines = [{ filter = "resource.type=\"cloud_run_revision\" AND resource.labels.service_name=one_of(${join(",", [for name in sort(values(local.deployed)) : "\"${name}\""])}) AND metric.type=\"run.googleapis.com/container/memory/utilizations\"", align = "ALIGN_PERCENTILE_99", by = "resource.label.service_name" }]
    },
  ]
}

resource "google_monitoring_dashboard" "spotwarden" {
  dashboard_json = jsonencode({
    displayName = "Spotwarden"
    mosaicLayout = {
      columns = 48
      tiles = [
        # A place that is 0 is left out, as Monitoring does: said, it would be a difference at every plan.
        for place, chart in local.charts : merge({ for side, at in { xPos = 24 * (place % 2), yPos = 16 * floor(place / 2) } : side => at if at > 0 }, {
          width  = 24
          height = 16
          widget = {
            title = chart.title
            xyChart = {
              dataSets = [
                for line in chart.lines : {
                  plotType = "LINE"
                  timeSeriesQuery = {
                    timeSeriesFilter = {
                      filter = line.filter
                      aggregation = {
                        alignmentPeriod    = "60s"
                        perSeriesAligner   = line.align
                        crossSeriesReducer = line.align == "ALIGN_DELTA" ? "REDUCE_SUM" : "REDUCE_MAX"
                        groupByFields      = [line.by]
                      }
                    }
                  }
                }
              ]
            }
          }
        })
      ]
    }
  })

  depends_on = [google_logging_metric.sweep]
}
