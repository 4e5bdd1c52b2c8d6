"""The pages of the report: data in, HTML out; each works without a script."""

from spotwarden.decide.report_pages.asking import Asked, Chosen, choose
from spotwarden.decide.report_pages.compare import compare
from spotwarden.decide.report_pages.experiments import copies, experiments
from spotwarden.decide.report_pages.fleet import fleet
from spotwarden.decide.report_pages.frame import Frame
from spotwarden.decide.report_pages.headers import HEADERS
from spotwarden.decide.report_pages.job import job
from spotwarden.decide.report_pages.templates import EDITION
from spotwarden.decide.report_pages.trouble import trouble
from spotwarden.decide.report_pages.trust import trust

__all__ = [
    "EDITION",
    "HEADERS",
    "Asked",
    "Chosen",
    "Frame",
    "choose",
    "compare",
    "copies",
    "experiments",
    "fleet",
    "job",
    "trouble",
    "trust",
]
