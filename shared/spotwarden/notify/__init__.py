"""What people are told, by whom it is brought, and how they answer."""
