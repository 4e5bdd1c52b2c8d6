"""How letters leave: mail by SMTP, web hooks by HTTPS. Nobody else opens a connection to a person."""
