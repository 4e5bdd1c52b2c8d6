# Who each function is, and what it may do: its row of functions.yaml, and nothing else. A permission is granted on the
# narrowest thing that has it: a topic, an account, a part of the bucket, and on the project only what is left.

resource "google_service_account" "function" {
  for_each = local.functions

  account_id   = "spotwarden-${local.deployed[each.key]}"
  display_name = "Spotwarden: ${each.key}"
  description  = each.value.does

  depends_on = [google_project_service.needed]
}

locals {
  # Granted on one thing rather than on the project.
  narrowed = toset(["iam.serviceAccounts.actAs", "pubsub.topics.publish"])

  on_project = {
    for name, row in local.functions : name => sort(setsubtract(row.permissions, local.narrowed))
    if length(setsubtract(row.permissions, local.narrowed)) > 0
  }
  publishers = toset([for name, row in local.functions : name if contains(row.permissions, "pubsub.topics.publish")])
  actors = {
    for pair in setproduct([for name, row in local.functions : name if contains(row.permissions, "iam.serviceAccounts.actAs")], var.act_as) :
    "${pair[0]}/${pair[1]}" => { function = pair[0], account = pair[1] }
  }
}

# --- On the project.

resource "google_project_iam_custom_role" "function" {
  for_each = local.on_project

  role_id     = "spotwarden_${each.key}"
  title       = "Spotwarden: ${each.key}"
  description = "What ${each.key} does on the project"
  permissions = each.value

  depends_on = [google_project_service.needed]
}

resource "google_project_iam_member" "function" {
  for_each = local.on_project

  project = var.project
  role    = google_project_iam_custom_role.function[each.key].name
  member  = google_service_account.function[each.key].member
}

# --- On the topic of notices. The predefined role holds this one permission.

resource "google_pubsub_topic_iam_member" "teller" {
  for_each = local.publishers

  topic  = google_pubsub_topic.shared["notices"].name
  role   = "roles/pubsub.publisher"
  member = google_service_account.function[each.key].member
}

# --- On its own topic, where a sweep asks further instances of its function to look.

resource "google_pubsub_topic_iam_member" "waker" {
  for_each = toset([for name, row in local.functions : name if try(row.wakes_itself, false)])

  topic  = google_pubsub_topic.function[each.key].name
  role   = "roles/pubsub.publisher"
  member = google_service_account.function[each.key].member
}

# --- On the accounts that recreated VMs run as, each by name: who may act as any account of a project is soon its owner.

resource "google_project_iam_custom_role" "act_as" {
  role_id     = "spotwarden_act_as"
  title       = "Spotwarden: give a VM this account"
  permissions = ["iam.serviceAccounts.actAs"]

  depends_on = [google_project_service.needed]
}

resource "google_service_account_iam_member" "act_as" {
  for_each = local.actors

  service_account_id = "projects/-/serviceAccounts/${each.value.account}"
  role               = google_project_iam_custom_role.act_as.name
  member             = google_service_account.function[each.value.function].member
}

# --- Who calls the functions: Pub/Sub, by tokens of an account that may do nothing else.

resource "google_service_account" "invoker" {
  account_id   = "spotwarden-invoker"
  display_name = "Spotwarden: wakes the functions"

  depends_on = [google_project_service.needed]
}

resource "google_service_account_iam_member" "tokens" {
  service_account_id = google_service_account.invoker.name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = local.pubsub_agent
}
