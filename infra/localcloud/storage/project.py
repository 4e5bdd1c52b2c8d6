"""The project that a request names."""

from localcloud.errors import ApiError
from localcloud.project import number_of


def check_project(asked: str, own: str) -> None:
    """Take the project of the local cloud, by its name or by its number.

    Raises:
        ApiError: 400 for another one, as Cloud Storage answers for one that there is not.
    """
    if asked not in {own, number_of(own)}:
        raise ApiError(400, "invalid", f"Unknown project id: {asked}")
