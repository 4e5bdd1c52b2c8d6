"""Makes `infra/price-list.json` of what others publish: a tool, not shipped."""
