"""The nouns of Spotwarden: frozen values, built at the edge, passed everywhere."""
