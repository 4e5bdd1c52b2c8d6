"""How the report's views are made and rendered: the pure functions, as whoever serves them is told them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime

import msgspec

from spotwarden.model.notice import Notice
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable
from spotwarden.report.model.experiments import Experiments
from spotwarden.report.model.fleet import Fleet
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.model.kept import Index, Summary
from spotwarden.report.model.trust import Deed, Query, Trust
from spotwarden.report.model.week import Week

View = Experiments | JobReport | Comparison | Fleet | Trust


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """What every view is made from: the index, and by which policy and prices."""

    index: Index
    policy: Policy
    prices: PriceTable


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Deeds that may fit a query, since when all are there (None: ever), and the job that is asked for."""

    deeds: tuple[Deed, ...] = ()
    since: date | None = None
    about: Summary | None = None


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when a page is shown, `depth` folders down, and what its address asks of it, by name.

    `part` says that not all of the report is in it yet.
    """

    now: datetime
    asked: Mapping[str, str] = {}
    home: str = "UTC"
    updated: datetime | None = None
    part: bool = False
    static: bool = False
    assets: Mapping[str, str] = {}
    bucket: str = ""
    project: str = ""
    depth: int = 0


class Press(msgspec.Struct, frozen=True, kw_only=True):
    """The pure functions.

    `fleet` is of these days, of one owner or ("") of all. `named` is the job that a job's name, a VM's name
    or an id belongs to, "" for none. `page` is a view's HTML, `copies` the pages of a table that are files,
    each with its name; `trouble` says what is wrong and what to do. `chosen` are the rows that the address
    asks for, `edition` tells one version of the pages from another.
    """

    experiments: Callable[[Basis], Experiments]
    chosen: Callable[[Experiments, Mapping[str, str]], Experiments]
    job: Callable[[Basis, Summary], JobReport]
    fleet: Callable[[Basis, date, date, str], Fleet]
    trust: Callable[[Found, Query, datetime | None], Trust]
    named: Callable[[Index, str], str]
    page: Callable[[View, Scene], str]
    copies: Callable[[Experiments, Scene], Iterator[tuple[str, str]]]
    trouble: Callable[[str, str, Scene], str]
    as_json: Callable[[View], bytes]
    as_csv: Callable[[View], bytes]
    file_name: Callable[[View, str], str]
    headers: Callable[[], Mapping[str, str]]
    edition: Callable[[], str]
    due: Callable[..., Week | None]
    weekly: Callable[[Basis, Week, datetime], Iterable[Notice]]
