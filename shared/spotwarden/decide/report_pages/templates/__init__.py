"""How the report's pages look. Every text is put in cleaned and escaped; no script or style stands in one."""

from collections.abc import Mapping
from hashlib import sha256

from spotwarden.decide.report_pages.templates.base import BASE, PARTS, TROUBLE
from spotwarden.decide.report_pages.templates.charts import CHARTS
from spotwarden.decide.report_pages.templates.compare import COMPARE
from spotwarden.decide.report_pages.templates.experiments import EXPERIMENTS
from spotwarden.decide.report_pages.templates.fleet import FLEET
from spotwarden.decide.report_pages.templates.job import JOB
from spotwarden.decide.report_pages.templates.trust import TRUST

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
