output "uri" {
  description = "Where it answers."
  value       = google_cloudfunctions2_function.function.service_config[0].uri
}

output "name" {
  description = "What its service is called."
  value       = google_cloudfunctions2_function.function.name
}
