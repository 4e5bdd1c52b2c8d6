# What a deployment says of itself. deploy.sh writes these into a file; the defaults are what it leaves out.

variable "project" {
  description = "The Google Cloud project that the jobs run in."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "A project's id has 6 to 30 lower case letters, digits and hyphens."
  }
}

variable "region" {
  description = "Where the functions run; best the region of the bucket."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "A region is written as us-central1, without a zone."
  }
}

variable "scheduler_region" {
  description = "Where the Scheduler's jobs are, where that is not the region of the functions."
  type        = string
  default     = ""
}

variable "bucket" {
  description = "The jobs' bucket, without gs://. Terraform never creates, changes or destroys it; it only sets who may use it."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$", var.bucket))
    error_message = "Name the bucket without gs:// and without a folder."
  }
}

variable "prefix" {
  description = "A prefix of all objects in the bucket, such as users/; none by default."
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^([A-Za-z0-9._-]+/)*$", var.prefix))
    error_message = "The prefix is empty or a path of letters, digits, dots, hyphens and underscores that ends in /."
  }

  # What job VMs may write is told by the folders of a name: none of the prefix may be called as one of a job.
  validation {
    condition     = length(setintersection(split("/", var.prefix), ["metadata", "output"])) == 0
    error_message = "No folder of the prefix can be called metadata or output."
  }
}

variable "mode" {
  description = "observe: decide, record and tell, but change nothing. enforce: act, as far as each rule of the policy says so."
  type        = string
  default     = "observe"

  validation {
    condition     = contains(["observe", "enforce"], var.mode)
    error_message = "The mode is observe or enforce."
  }
}

variable "alert_email" {
  description = "Who gets alerts about Spotwarden itself, and what only ops can fix."
  type        = string

  validation {
    condition     = can(regex("^[^@\\s,]+@[^@\\s,]+$", var.alert_email))
    error_message = "Give one mail address."
  }
}

variable "mail_from" {
  description = "The sender of all mails, as in `Spotwarden <spotwarden@example.com>`; none while no mails are sent."
  type        = string
  default     = ""
}

variable "links" {
  description = "Whether mails have answer links, for which anybody may call answer_notice. Set false in an organization with domain restricted sharing, which forbids that."
  type        = bool
  default     = true
}

variable "viewers" {
  description = "Who may open the report, as IAM writes them: `user:ada@example.com`, `group:ml@example.com`, `domain:example.com`."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for one in var.viewers : can(regex("^(user|group|domain|serviceAccount|principal|principalSet):", one))])
    error_message = "Each viewer is written as IAM does, such as group:ml@example.com; the report is for no allUsers."
  }
}

variable "build" {
  description = "The folder with the staged archives, one zip for each function."
  type        = string
  default     = "../../build"
}

variable "runtime" {
  description = "The Python of the functions."
  type        = string
  default     = "python311"
}

variable "job_vms" {
  description = "The service accounts that job VMs run as, by mail address. They get only the rights that a job needs on the bucket."
  type        = list(string)
  default     = []
}

variable "act_as" {
  description = "The service accounts that recreated VMs may be given, by mail address; usually the same. Recovery needs it."
  type        = list(string)
  default     = []
}

variable "secret_versions" {
  description = "The version of each secret that the functions get, by the secret's environment variable. A secret without a version is given to no function."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for version in values(var.secret_versions) : can(regex("^[1-9][0-9]*$", version))])
    error_message = "A version is a number; `latest` would be read once and then grow old unseen."
  }
}

variable "cpu" {
  description = "How many CPUs each function has while it works. Google's default is a sixth of one with 256 MiB, and sweeps and cold starts take six times as long."
  type        = string
  default     = "1"
}

variable "most_instances" {
  description = "How many instances of one function may run at a time. Ten handle a storm of 1,000 markers; more would only wait for each other."
  type        = number
  default     = 10
}

variable "api_calls_a_minute" {
  description = "Calls to Compute Engine and Monitoring a minute above which an alert is sent. A project may make 1,500 reads of Compute Engine a minute, its people and tools included."
  type        = number
  default     = 600
}

variable "billing_account" {
  description = "The billing account, for a budget; none by default, since not everybody who may deploy may see it."
  type        = string
  default     = ""
}

variable "monthly_budget" {
  description = "What the services that Spotwarden uses may cost the project in a month, in the account's currency, before the billing account's people are told."
  type        = number
  default     = 50
}
