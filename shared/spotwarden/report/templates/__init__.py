"""How the report's pages look. Every text is put in cleaned and escaped; no script or style stands in one."""

from collections.abc import Mapping
from hashlib import sha256

from spotwarden.report.templates.base import BASE, PARTS, TROUBLE
from spotwarden.report.templates.charts import CHARTS
from spotwarden.report.templates.compare import COMPARE
from spotwarden.report.templates.experiments import EXPERIMENTS
from spotwarden.report.templates.fleet import FLEET
from spotwarden.report.templates.job import JOB
from spotwarden.report.templates.trust import TRUST

TEMPLATES: Mapping[str, str] = {
    "base": BASE,
    "parts": PARTS,
    "charts": CHARTS,
    "experiments": EXPERIMENTS,
    "compare": COMPARE,
    "job": JOB,
    "fleet": FLEET,
    "trust": TRUST,
    "trouble": TROUBLE,
}
"""Each page's template, and what they share, by name."""
EDITION = sha256("".join(TEMPLATES.values()).encode()).hexdigest()[:16]
"""Tells one version of the templates from another."""
