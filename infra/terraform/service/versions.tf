# Which version is said once, by the folder above.
terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}
