"""Cloud Logging, Cloud Scheduler, Cloud Resource Manager, service accounts, and what shows functions.

From "Access control with IAM" of each. Nothing is asked for a list of projects, nor for a question about
one's own permissions.
"""

from localcloud.permissions.tables.row import rows

_JOB = "/v1/projects/{project}/locations/{location}/jobs"

OTHERS = {
    **rows(
        """
        POST   /v2/entries:list                         logging.logEntries.list
        POST   /v2/entries:write                        logging.logEntries.create
        GET    /v2/projects/{project}/logs              logging.logs.list
        DELETE /v2/projects/{project}/logs/{log}        logging.logs.delete
        POST   /v2/projects/{project}/sinks             logging.sinks.create
        GET    /v2/projects/{project}/sinks             logging.sinks.list
        GET    /v2/projects/{project}/sinks/{sink}      logging.sinks.get
        PUT    /v2/projects/{project}/sinks/{sink}      logging.sinks.update
        PATCH  /v2/projects/{project}/sinks/{sink}      logging.sinks.update
        DELETE /v2/projects/{project}/sinks/{sink}      logging.sinks.delete

        GET    /v1/projects                             -
        GET    /v1/projects/{project}                   resourcemanager.projects.get
        POST   /v1/projects/{project}:getIamPolicy      resourcemanager.projects.getIamPolicy
        POST   /v1/projects/{project}:setIamPolicy      resourcemanager.projects.setIamPolicy
        POST   /v1/projects/{project}:testIamPermissions  -

        GET    /v1/projects/{project}/serviceAccounts             iam.serviceAccounts.list
        POST   /v1/projects/{project}/serviceAccounts             iam.serviceAccounts.create
        GET    /v1/projects/{project}/serviceAccounts/{account}   iam.serviceAccounts.get
        DELETE /v1/projects/{project}/serviceAccounts/{account}   iam.serviceAccounts.delete

        GET    /v1/projects/{project}/locations             cloudscheduler.locations.list
        GET    /v1/projects/{project}/locations/{location}  cloudscheduler.locations.get
        """
    ),
    **rows(
        """
        GET /run/v1/projects/{project}/locations/{location}/services  run.services.list
        """
    ),
    **rows(
        """
        GET /v1/projects/{project}/locations                       cloudfunctions.locations.list
        GET /v2/projects/{project}/locations                       cloudfunctions.locations.list
        GET /v1/projects/{project}/locations/{location}/functions  cloudfunctions.functions.list
        GET /v2/projects/{project}/locations/{location}/functions  cloudfunctions.functions.list
        GET /v2/projects/{project}/locations/{location}/functions/{function:id}  cloudfunctions.functions.get
        """,
        prefix="/cloudfunctions",
    ),
    **rows(
        """
        POST   /{job}:run       cloudscheduler.jobs.run
        POST   /{job}:pause     cloudscheduler.jobs.pause
        POST   /{job}:resume    cloudscheduler.jobs.enable
        GET    /{job}           cloudscheduler.jobs.get
        PATCH  /{job}           cloudscheduler.jobs.update
        DELETE /{job}           cloudscheduler.jobs.delete
        """,
        prefix=_JOB,
    ),
    **rows("POST jobs cloudscheduler.jobs.create", prefix=_JOB.removesuffix("jobs")),
    **rows("GET jobs cloudscheduler.jobs.list", prefix=_JOB.removesuffix("jobs")),
}
