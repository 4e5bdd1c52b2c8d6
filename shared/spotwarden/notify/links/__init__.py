"""Answers that people give by the links in their mails: signed, considered, written once, carried out."""
