"""Which mails share a subject, and so a conversation in Gmail."""

from enum import Enum


class Threads(Enum):
    """One subject for each kind of news about a job, which says what happened; or one for each job."""

    NEWS = "news"
    JOB = "job"
