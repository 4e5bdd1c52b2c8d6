# The jobs' bucket. It belongs to the jobs: it is looked at here, and who may use what of it is said; it is never made,
# changed or destroyed. What is kept for how long is for its owner to say (output `lifecycle`).

data "google_storage_bucket" "jobs" {
  name = var.bucket

  depends_on = [google_project_service.needed]

  lifecycle {
    postcondition {
      condition     = self.uniform_bucket_level_access
      error_message = "The bucket ${var.bucket} has no uniform bucket-level access: conditions would not hold. Turn it on: gcloud storage buckets update gs://${var.bucket} --uniform-bucket-level-access"
    }
    postcondition {
      condition     = self.project_number == tonumber(data.google_project.this.number)
      error_message = "The bucket ${var.bucket} is not of the project ${var.project}."
    }
    postcondition {
      condition     = !self.requester_pays
      error_message = "The bucket ${var.bucket} is one whose readers pay; the functions name no project to bill."
    }
  }
}

locals {
  reading = toset(["storage.objects.get", "storage.objects.list"])

  # What each function does to objects, apart from reading them, and to which ones: what is ours where its row says
  # nothing else (`bucket_writes`).
  bucket_reads  = { for name, row in local.functions : name => sort(setintersection(try(row.bucket_permissions, []), local.reading)) }
  bucket_writes = { for name, row in local.functions : name => sort(setsubtract(try(row.bucket_permissions, []), local.reading)) }
  writes_where  = { for name, row in local.functions : name => try(row.bucket_writes, ["spotwarden/"]) }

  # What a job VM may write: that it goes, that it lives, what it measures and prints, how its job ended, and what that made.
  job_vm_writes = [
    "preempted-jobs/",
    "heartbeats/",
    "{job}/metadata/heartbeat/",
    "{job}/metadata/metrics/",
    "{job}/metadata/logs/",
    "{job}/metadata/status-code",
    "{job}/output/",
  ]

  # How IAM calls an object, and the first folder of its name, which is the job. `extract` gives what stands for the
  # variable where its pattern first fits, and "" where it does not.
  objects = "projects/_/buckets/${var.bucket}/objects/${var.prefix}"
  first   = "resource.name.extract(\"${local.objects}{job}/\")"
  ours    = "resource.name.startsWith(\"${local.objects}spotwarden/\")"

  # From a pattern to a condition. `folder/` is all that is below it, and {job} is one folder: that both extracts agree
  # keeps `a/metadata/files/output/x`, a file of a create script, from passing for output of a job.
  clauses = {
    for pattern in toset(flatten([local.job_vm_writes, values(local.writes_where)])) : pattern => (
      !startswith(pattern, "{job}/") ? "resource.name.startsWith(\"${local.objects}${pattern}\")" :
      join(" && ", concat(
        ["resource.name.extract(\"${local.objects}${dirname(pattern)}/\") == ${local.first}"],
        endswith(pattern, "/") ? [] : [
          "resource.name.extract(\"/${basename(dirname(pattern))}/{deeper}/\") == \"\"",
          "resource.name.endsWith(\"${regex("[^}]*$", strcontains(basename(pattern), "{") ? basename(pattern) : "/${basename(pattern)}")}\")",
        ],
      ))
    )
  }

  # All patterns of one writer, as one condition. What has no folder is no job's.
  writers    = merge(local.writes_where, { job_vm = local.job_vm_writes })
  of_the_top = { for name, patterns in local.writers : name => [for pattern in patterns : local.clauses[pattern] if !startswith(pattern, "{job}/")] }
  of_a_job   = { for name, patterns in local.writers : name => [for pattern in patterns : "(${local.clauses[pattern]})" if startswith(pattern, "{job}/")] }
  may_write = {
    for name, patterns in local.writers : name => join(" || ", concat(
      local.of_the_top[name],
      length(local.of_a_job[name]) == 0 ? [] : [
        "(${local.first} != \"\" && ${contains(patterns, "spotwarden/") ? "" : "!${local.ours} && "}(${join(" || ", local.of_a_job[name])}))",
      ],
    ))
  }
}

resource "google_project_iam_custom_role" "bucket_reads" {
  for_each = { for name, permissions in local.bucket_reads : name => permissions if length(permissions) > 0 }

  role_id     = "spotwarden_${each.key}_reads"
  title       = "Spotwarden: ${each.key}, reads the bucket"
  permissions = each.value

  depends_on = [google_project_service.needed]
}

resource "google_project_iam_custom_role" "bucket_writes" {
  for_each = { for name, permissions in local.bucket_writes : name => permissions if length(permissions) > 0 }

  role_id     = "spotwarden_${each.key}_writes"
  title       = "Spotwarden: ${each.key}, writes to the bucket"
  permissions = each.value

  depends_on = [google_project_service.needed]
}

resource "google_storage_bucket_iam_member" "reads" {
  for_each = google_project_iam_custom_role.bucket_reads

  bucket = data.google_storage_bucket.jobs.name
  role   = each.value.name
  member = google_service_account.function[each.key].member
}

resource "google_storage_bucket_iam_member" "writes" {
  for_each = google_project_iam_custom_role.bucket_writes

  bucket = data.google_storage_bucket.jobs.name
  role   = each.value.name
  member = google_service_account.function[each.key].member

  condition {
    title       = "what ${each.key} writes"
    description = join(", ", local.writes_where[each.key])
    expression  = local.may_write[each.key]
  }
}

# --- Job VMs: they read what is not ours, and write what tells of them and what they make. They write no create script,
# none of its files, no job.toml, no ledger, and nothing of ours.

resource "google_project_iam_custom_role" "job_vm_reads" {
  role_id     = "spotwarden_job_vm_reads"
  title       = "Spotwarden: job VMs, read the bucket"
  permissions = ["storage.objects.get", "storage.objects.list"]

  depends_on = [google_project_service.needed]
}

resource "google_project_iam_custom_role" "job_vm_writes" {
  role_id     = "spotwarden_job_vm_writes"
  title       = "Spotwarden: job VMs, write to the bucket"
  permissions = ["storage.objects.create", "storage.objects.delete"]

  depends_on = [google_project_service.needed]
}

locals {
  # A list is of the bucket, not of an object: it is judged by the prefix that is listed. Whoever may not list is told
  # that a missing object is forbidden (403) rather than missing (404), so what is no list is left alone.
  listed = "api.getAttribute(\"storage.googleapis.com/objectListPrefix\", \"none\")"

  job_vm_may_read = join(" || ", [
    "(resource.name.startsWith(\"${local.objects}\") && !${local.ours})",
    "(resource.type == \"storage.googleapis.com/Bucket\" && (${local.listed} == \"none\" || (${local.listed}.startsWith(\"${var.prefix}\") && ${local.listed} != \"${var.prefix}\" && !${local.listed}.startsWith(\"${var.prefix}spotwarden\"))))",
  ])
}

resource "google_storage_bucket_iam_member" "job_vm_reads" {
  for_each = toset(var.job_vms)

  bucket = data.google_storage_bucket.jobs.name
  role   = google_project_iam_custom_role.job_vm_reads.name
  member = "serviceAccount:${each.key}"

  condition {
    title       = "what job VMs read"
    description = "code, files and output of jobs; nothing of Spotwarden's"
    expression  = local.job_vm_may_read
  }
}

resource "google_storage_bucket_iam_member" "job_vm_writes" {
  for_each = toset(var.job_vms)

  bucket = data.google_storage_bucket.jobs.name
  role   = google_project_iam_custom_role.job_vm_writes.name
  member = "serviceAccount:${each.key}"

  condition {
    title       = "what job VMs write"
    description = join(", ", local.job_vm_writes)
    expression  = local.may_write.job_vm
  }
}
