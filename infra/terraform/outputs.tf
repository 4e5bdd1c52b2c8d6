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
  description = "Who each function is."
  value       = { for name, account in google_service_account.function : name => account.email }
}

output "secrets" {
  description = "Where each secret goes, by its environment variable."
  value       = { for variable, secret in google_secret_manager_secret.secret : variable => secret.secret_id }
}

output "dead_letters" {
  description = "The subscription that keeps what could not be delivered."
  value       = google_pubsub_subscription.dead_letters.name
}

output "mode" {
  description = "Whether it acts."
  value       = var.mode
}

# The bucket is not ours, and Cloud Storage knows its rules only as a whole: they are for its owner to add.
output "lifecycle" {
  description = "Rules that keep what Spotwarden writes from growing for ever, for the bucket's owner to add to theirs."
  value = {
    rule = [
      for below, days in local.kept_days : {
        action    = { type = "Delete" }
        condition = { age = days, matchesPrefix = ["${var.prefix}spotwarden/${below}/"] }
      }
    ]
  }
}

# Longer than anything looks back: back-tests a month, warnings as long as a case, links a week; the audit for a year.
locals {
  kept_days = {
    sweeps    = 90
    delivered = 90
    answers   = 90
    audit     = 400

    # Days of the audit as the report shows them; all else of the report is written over.
    "report/days" = 400
  }
}
