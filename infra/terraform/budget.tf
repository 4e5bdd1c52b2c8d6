# What Spotwarden's own resources cost, by their label; the VMs of the jobs are not among them. Only where a billing
# account is named: who deploys a project often may not see it.

resource "google_billing_budget" "spotwarden" {
  count = var.billing_account == "" ? 0 : 1

  billing_account = var.billing_account
  display_name    = "Spotwarden in ${var.project}"

  budget_filter {
    projects = ["projects/${data.google_project.this.number}"]
    labels   = { app = "spotwarden" }
  }

  amount {
    specified_amount {
      units = tostring(var.monthly_budget)
    }
  }

  threshold_rules {
    threshold_percent = 0.5
  }

  threshold_rules {
    threshold_percent = 1
  }

  threshold_rules {
    threshold_percent = 1
    spend_basis       = "FORECASTED_SPEND"
  }

  all_updates_rule {
    monitoring_notification_channels = local.channels
  }

  depends_on = [google_project_service.needed]
}
