"""The create commands of gcloud, and the letter of each in the table of flags."""

CREATE, BULK, CONTAINER = "create", "bulk create", "create-with-container"
LETTERS = {CREATE: "c", BULK: "b", CONTAINER: "k"}
