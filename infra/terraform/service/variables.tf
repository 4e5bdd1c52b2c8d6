variable "function" {
  description = "Its row of functions.yaml."
  type = object({
    name            = string
    does            = string
    memory          = string
    timeout_seconds = number
  })
}

variable "project" {
  type = string
}

variable "region" {
  type = string
}

variable "runtime" {
  type = string
}

variable "archive" {
  description = "The staged archive, in its bucket."
  type        = object({ bucket = string, name = string })
}

variable "repository" {
  description = "Where its image goes."
  type        = string
}

variable "builder" {
  description = "The service account that builds it."
  type        = string
}

variable "identity" {
  description = "The service account that it runs as."
  type        = string
}

variable "outside" {
  description = "Whether calls from outside of the project reach it; who may call is another matter."
  type        = bool
}

variable "invoker" {
  description = "Who may call it, as IAM writes it."
  type        = string
}

variable "cpu" {
  description = "How many CPUs it has."
  type        = string
}

variable "most" {
  description = "How many of it may run at a time."
  type        = number
}

variable "environment" {
  description = "What it is told; what is empty is left out."
  type        = map(string)
}

variable "secrets" {
  description = "The secrets that it is given, by environment variable."
  type        = map(object({ id = string, version = string }))
}
