"""What the report is made of: a job's records → its timeline and its figures; all jobs' → the fleet's."""

from spotwarden.decide.report.beats import line
from spotwarden.decide.report.cases import pending
from spotwarden.decide.report.deeds import deeds
from spotwarden.decide.report.merging import merged
from spotwarden.decide.report.rows import summary
from spotwarden.model.reporting import Reporting

__all__ = ["REPORTING"]

REPORTING = Reporting(line=line, deeds=deeds, merged=merged, summary=summary, pending=pending)
