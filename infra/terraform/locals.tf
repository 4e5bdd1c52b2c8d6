# infra/functions.yaml, the one source of what there is; everything else is made from it.
locals {
  manifest  = yamldecode(file("${path.module}/../functions.yaml"))
  functions = { for row in local.manifest.functions : row.name => row }
  deployed  = { for name, row in local.functions : name => replace(name, "_", "-") }

  # A public function answers requests of anybody, a private one those of people who are named; all others are only woken,
  # by our own subscriptions.
  public  = { for name, row in local.functions : name => row if try(row.http, "") == "public" }
  private = { for name, row in local.functions : name => row if try(row.http, "") == "private" }
  woken   = { for name, row in local.functions : name => row if try(row.http, "") == "" }

  # What has a topic of its own: whatever is ticked, or woken by the bucket or the audit log.
  topics    = { for name, row in local.functions : name => "spotwarden-${local.deployed[name]}" if length(local.wakes[name]) > 0 }
  wakes     = { for name, row in local.functions : name => compact([try(row.schedule, ""), try(row.log_events, ""), join("", keys(try(row.bucket_events, {})))]) }
  schedules = { for name, row in local.functions : name => row.schedule if try(row.schedule, "") != "" }
  log_sinks = { for name, row in local.functions : name => row.log_events if try(row.log_events, "") != "" }

  notifications = merge([
    for name, row in local.functions : {
      for event, below in try(row.bucket_events, {}) : "${name}/${event}" => { function = name, event = event, below = below }
    }
  ]...)

  # Every subscription that pushes to a function: to its own topic, and to each that it listens to.
  subscriptions = merge(
    { for name, topic in local.topics : topic => { function = name, topic = topic, shared = "" } },
    merge([
      for name, row in local.functions : {
        for key in try(row.listens_to, []) : "spotwarden-${local.deployed[name]}-${local.manifest.topics[key]}" => {
          function = name, topic = local.manifest.topics[key], shared = key
        }
      }
    ]...),
  )

  # Each secret, and who reads it.
  secrets = toset(flatten([for row in values(local.functions) : try(row.secrets, [])]))
  secret_readers = merge([
    for name, row in local.functions : {
      for variable in try(row.secrets, []) : "${name}/${variable}" => { function = name, variable = variable }
    }
  ]...)

  pubsub_agent = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-pubsub.iam.gserviceaccount.com"
}

data "google_project" "this" {
  project_id = var.project

  depends_on = [google_project_service.needed]
}
