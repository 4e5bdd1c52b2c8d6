"""What the report is made of: a job's records → its timeline and its figures; all jobs' → the fleet's."""

from spotwarden.model.reporting import Reporting
from spotwarden.report.figures.audit import deeds
from spotwarden.report.figures.beats import line
from spotwarden.report.figures.cases import pending
from spotwarden.report.figures.merging import merged
from spotwarden.report.figures.rows import summary

__all__ = ["REPORTING"]

REPORTING = Reporting(line=line, deeds=deeds, merged=merged, summary=summary, pending=pending)
