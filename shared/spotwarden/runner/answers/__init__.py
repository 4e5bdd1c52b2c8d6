"""What people answer by the links in their mails: read, considered, written down once, carried out."""
