# What deploy.sh and `spotwarden doctor` need to know of what was made.

output "functions" {
  description = "Where each function answers."
  value       = local.uris
}

output "answers" {
  description = "Where people's answers go; \"\" without the function that takes them."
  value       = local.answers
}

output "report" {
  description = "Where the report is, for people who may call it; \"\" without the function that makes it."
  value       = local.report
}

output "topics" {
  description = "The topic that wakes each function."
  value       = local.topics
}

output "identities" {
  description = "The service account of each function."
  value       = { for name, account in google_service_account.function : name => account.email }
}

output "secrets" {
  description = "Where each secret goes, by its environment variable."
  value       = { for variable, secret in google_secret_manager_secret.secret : variable => secret.secret_id }
}

output "dead_letters" {
  description = "The subscription with undelivered messages."
  value       = google_pubsub_subscription.dead_letters.name
}

output "mode" {
  description = "Whether it acts."
  value       = var.mode
}

# The bucket is not ours, and Cloud Storage knows its rules only as a whole: they are for its owner to add.
output "lifecycle" {
  description = "Lifecycle rules for what Spotwarden writes, for the bucket's owner to add."
  value = {
    rule = [
      for folder, days in local.kept_days : {
        action    = { type = "Delete" }
        condition = { age = days, matchesPrefix = ["${var.prefix}${folder}/"] }
      }
    ]
  }
}

# Longer than anything looks back: back-tests a month, warnings as long as a case, links a week; the audit for a year.
# A heartbeat is as old as its last write: a week after that its node is gone, and all lists of heartbeats are shorter.
locals {
  # `report/days` has the days of the audit as the report shows them; all else of the report is written over.
  kept_days = {
    "spotwarden/sweeps"      = 90
    "spotwarden/delivered"   = 90
    "spotwarden/answers"     = 90
    "spotwarden/audit"       = 400
    "spotwarden/report/days" = 400
    "heartbeats"             = 7
  }
}
