# Pinned to the version whose schema the tests hold every argument against (tests/infra/terraform_schema). For another
# one take its schema first, then look at what the tests say.
terraform {
  required_version = ">= 1.9, < 2.0"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "6.50.0"
    }
  }

  # Which bucket holds the state is said at `terraform init`: deploy.sh makes it on first use.
  backend "gcs" {}
}

provider "google" {
  project = var.project
  region  = var.region

  # The one API here that asks for it, when a person rather than an account deploys, is that of budgets.
  billing_project       = var.project
  user_project_override = var.billing_account != ""

  default_labels = {
    app = "spotwarden"
  }
}
