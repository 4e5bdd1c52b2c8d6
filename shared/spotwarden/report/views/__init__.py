"""The pages of the report: data in, HTML out; each works without a script."""

from spotwarden.report.views.asking import TablePage, TableQuery, choose
from spotwarden.report.views.compare import compare
from spotwarden.report.views.experiments import copies, experiments
from spotwarden.report.views.fleet import fleet
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.job import job
from spotwarden.report.views.rendering import HEADERS, edition
from spotwarden.report.views.trouble import trouble
from spotwarden.report.views.trust import trust

__all__ = [
    "HEADERS",
    "PageFrame",
    "TablePage",
    "TableQuery",
    "choose",
    "compare",
    "copies",
    "edition",
    "experiments",
    "fleet",
    "job",
    "trouble",
    "trust",
]
