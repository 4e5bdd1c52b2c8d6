# What is allowed and yet rarely meant: Terraform warns, and goes on.

check "accounts_to_give" {
  assert {
    condition     = length(var.act_as) > 0
    error_message = "act_as is empty: jobs whose VMs have a service account cannot be brought back. Name the accounts that job VMs run as."
  }
}

check "accounts_of_their_own" {
  assert {
    condition     = !anytrue([for account in concat(var.job_vms, var.act_as) : endswith(account, "-compute@developer.gserviceaccount.com")])
    error_message = "Compute Engine's default account is an editor in many projects, and then may do far more than what is granted here. Give job VMs an account of their own."
  }
}

check "jobs_may_write" {
  assert {
    condition     = length(var.job_vms) > 0
    error_message = "job_vms is empty: job VMs get no rights on the bucket from here. That is right only where they have their own."
  }
}
