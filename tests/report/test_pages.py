"""The report's pages as HTML: nothing made up, nothing from elsewhere, and every link leads somewhere."""

import json
import re
from datetime import timedelta
from html.parser import HTMLParser
from urllib.parse import unquote

import msgspec
import pytest

from spotwarden.model.standing import Standing
from spotwarden.report import views as pages
from spotwarden.report.model.experiments import Experiments, Money
from spotwarden.report.model.fleet import By
from spotwarden.report.model.job import Comparison, JobReport
from spotwarden.report.views.fleet import MOST_ROWS
from spotwarden.report.views.safe import data
from tests.pages import report_made_up as made_up

NOW = made_up.NOW
FRAME = pages.PageFrame(updated=NOW, bucket="jobs", project="p", assets={"report.css": "report.1.css"})
VIEWS = {
    "experiments": lambda: pages.experiments(made_up.table(6), pages.TableQuery(), FRAME),
    "job": lambda: pages.job(made_up.job_report(), FRAME),
    "compare": lambda: pages.compare(made_up.comparison(1, 2), FRAME),
    "fleet": lambda: pages.fleet(made_up.fleet_view(), FRAME),
    "trust": lambda: pages.trust(made_up.trust_view(), FRAME),
    "trouble": lambda: pages.trouble("a", "b", FRAME),
}


class Seen(HTMLParser):
    """The tags and attributes of a page, its links, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.links, self.words = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Note a tag, the names of its attributes, and where it leads."""
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in {"href", "src", "action"}]

    def handle_data(self, data):
        """Note a text."""
        self.words.append(data)

    @property
    def text(self):
        """All words, with single blanks."""
        return " ".join(" ".join(self.words).split())


def seen(html):
    """The page, read."""
    return Seen(html)


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_in_a_page_runs_or_comes_from_elsewhere(name):
    """No inline script, no style, no handler; links are relative, or lead to Google's console."""
    page = seen(VIEWS[name]())
    assert not any(tag == "style" for tag, _ in page.tags)
    assert not any(name == "style" or name.startswith("on") for _, names in page.tags for name in names)
    assert not any(tag == "script" and not {"src", "type"} & set(names) for tag, names in page.tags)
    away = [link for link in page.links if not re.match(r"\.{1,2}/|#|data:,$", link)]
    assert [link for link in away if not link.startswith("https://console.cloud.google.com/storage/")] == []


def test_what_is_not_known_is_said_to_be_unknown_and_never_0():
    """A job of which nothing is on record has no figure at all, in the table and on its page."""
    row = seen(pages.experiments(Experiments(at=NOW, rows=(made_up.UNSAID,)), pages.TableQuery(), FRAME))
    page = seen(pages.job(JobReport(at=NOW, experiment=made_up.UNSAID), FRAME))
    both = seen(pages.compare(Comparison(jobs=(JobReport(at=NOW, experiment=made_up.UNSAID),) * 2), FRAME))
    for one in (row, page, both):
        said = one.text.partition("nobody-knows")[2].partition("As of")[0]
        assert not re.search(r"(?<![\d.,-])0(\.0+)?(?![\d.:-])", said)
        assert one.text.count("unknown") >= 7


def test_a_sum_of_which_a_part_has_no_price_is_a_least():
    """And one without any price is unknown."""
    hour = timedelta(hours=1)
    part = made_up.experiment(1, job="part", cost=Money(micros=2_500_000, priced=hour, unpriced=hour))
    none = made_up.experiment(2, job="none", cost=Money(unpriced=hour))
    text = seen(pages.experiments(Experiments(at=NOW, rows=(part, none)), pages.TableQuery(), FRAME)).text
    assert "at least 2.50" in text
    assert "unknown" in text.partition("none")[2]


@pytest.mark.parametrize(
    ("without", "says"), [(timedelta(0), False), (timedelta(seconds=9), True), (timedelta(hours=3), True)]
)
def test_the_pages_of_a_job_and_of_the_fleet_say_how_much_has_no_price(without, says):
    """Beside the sum, and only where there is some."""
    cost = Money(micros=2_500_000, priced=timedelta(hours=1), unpriced=without)
    fleet = made_up.fleet_view()
    fleet = msgspec.structs.replace(fleet, total=msgspec.structs.replace(fleet.total, cost=cost))
    job = JobReport(at=NOW, experiment=made_up.experiment(1, cost=cost))
    for page in (pages.fleet(fleet, FRAME), pages.job(job, FRAME)):
        assert ("VM-hours have no known price" in seen(page).text) is says
        assert "0.0 VM-hours" not in seen(page).text


def test_every_link_of_the_copy_leads_to_a_file_of_it():
    """Pages of 502 jobs, one with a name that has to be quoted, find each other without a server."""
    odd = made_up.experiment(3, job="50% of/ä b?#")
    frame = msgspec.structs.replace(FRAME, static=True)
    table = made_up.table(500, odd)
    files = dict(pages.copies(table, frame))
    assert sorted(files) == ["index-2.html", "index.html"]
    files["fleet.html"] = pages.fleet(made_up.fleet_view(), frame)
    files["trust.html"] = pages.trust(made_up.trust_view(), frame)
    for row in (odd, made_up.UNSAID):
        files[f"jobs/{row.job}.html"] = pages.job(made_up.job_report(experiment=row), frame)
    others = {f"jobs/{row.job}.html" for row in table.rows}
    others |= {f"{page}.{kind}" for page in frame.copied for kind in ("json", "csv")}
    for name, html in files.items():
        for link in seen(html).links:
            if link.startswith(("https://console.cloud.google.com/", "#", "data:")) or "/assets/" in link:
                continue
            path = unquote(re.sub(r"^(\.\./|\./)", "", link))
            assert link.startswith("../") == name.startswith("jobs/")
            assert path in files or path in others


def test_a_copy_of_very_many_jobs_says_how_many_are_not_in_it():
    """Four pages of 500, the newest; who looks for an older job is told where."""
    table = made_up.table(2001)
    files = dict(pages.copies(table, msgspec.structs.replace(FRAME, static=True)))
    assert len(files) == 4
    assert "open the page of report_jobs for 2 older jobs" in seen(files["index.html"]).text
    assert "index-5.html" not in files["index-4.html"]


def test_the_rows_of_a_long_table_still_add_up():
    """Those that have no room are one row together; days are all shown."""
    owners = tuple(made_up.part(1, f"owner-{number}") for number in range(MOST_ROWS + 1))
    view = made_up.fleet_view(tables={By.OWNER: owners})
    text = seen(pages.fleet(view, FRAME)).text
    hours = owners[0].gpu.useful / timedelta(hours=1)
    assert f"2 others 10 2 {2 * hours:.1f}" in text
    exact = made_up.fleet_view(tables={By.OWNER: owners[:-1]})
    assert "others" not in seen(pages.fleet(exact, FRAME)).text


def test_of_very_many_vms_and_events_the_newest_are_listed():
    """And each table says how many it has no room for; one that has room says nothing."""
    bar, mark = made_up.job_report().bars[0], made_up.job_report().marks[1]
    long = made_up.job_report(bars=(bar,) * 501, marks=(mark,) * 1000, loads=())
    text = seen(pages.job(long, FRAME)).text
    assert "1 more stay is only in the JSON download." in text
    assert "more events are only in the JSON download." in text
    assert "in the JSON download" not in seen(pages.job(made_up.job_report(bars=(bar,) * 500), FRAME)).text
    cases = seen(pages.fleet(made_up.fleet_view(cases=(made_up.case(1),) * 202), FRAME)).text
    assert "2 more cases are only in the JSON download." in cases


def test_each_vm_has_the_mean_of_its_gpus():
    """In words, beneath the picture; unknown where none reported."""
    report = made_up.job_report()
    load = msgspec.structs.replace(report.loads[0], values=(None, 40.0, 60.0))
    text = seen(pages.job(made_up.job_report(loads=(load,)), FRAME)).text
    assert "9.0 50.0 % preempted" in text
    assert "9.0 unknown preempted" in text


@pytest.mark.parametrize(
    ("machine", "noun"),
    [
        ("ct6e-standard-4t", "TPU chip"),
        ("tpu7x-standard-4t", "TPU chip"),
        ("a2-highgpu-1g", "GPU"),
        ("", "GPU"),
    ],
)
def test_what_is_busy_on_a_vm_is_called_what_it_is(machine, noun):
    """In the table and in the picture: a VM with TPUs has no GPU."""
    report = made_up.job_report()
    bars = tuple(msgspec.structs.replace(bar, machine=machine) for bar in report.bars)
    page = pages.job(msgspec.structs.replace(report, bars=bars), FRAME)
    assert f"{noun}s busy</th>" in page
    assert f"busiest {noun}" in page
    other = "GPU" if noun == "TPU chip" else "TPU chip"
    assert f"{other}s busy" not in page
    assert f"busiest {other}" not in page


def test_the_fleet_of_one_owner_says_whose_it_is():
    """An owner's row leads there; days and unit come along."""
    everybody = seen(pages.fleet(made_up.fleet_view(), FRAME, "vm"))
    assert "./fleet?first=2026-11-16&last=2026-11-20&unit=vm&owner=ada%40example.com" in everybody.links
    one = seen(pages.fleet(made_up.fleet_view(), FRAME, owner="ada@example.com"))
    assert "Fleet: ada@example.com" in one.text
    assert "./fleet.csv?first=2026-11-16&last=2026-11-20&owner=ada%40example.com" in one.links


def test_the_head_of_the_sorted_column_says_so():
    """One column has aria-sort; its link turns the order round, another's starts with its own."""
    html = pages.experiments(made_up.table(3), pages.TableQuery.read({"sort": "cost"}), FRAME)
    heads = re.findall(r"<th [^>]*>(?:\s*<a[^>]*>)?[^<]*", html)
    assert [head for head in heads if 'aria-sort="descending"' in head and "Cost" in head]
    assert html.count("aria-sort") == 1
    assert (
        'id="by-cost" data-live data-sort="cost" data-order="asc"\nhref="./?sort=cost&amp;order=asc"' in html
    )
    assert 'id="by-job" data-live data-sort="job" data-order="asc"\nhref="./?sort=job"' in html


def test_a_page_in_another_zone_keeps_it_in_its_links():
    """And shows moments by it; the zone of the policy needs no argument."""
    frame = msgspec.structs.replace(FRAME, zone="Asia/Tokyo", home="Europe/Berlin")
    page = seen(pages.job(made_up.job_report(), frame))
    assert "Times are in Asia/Tokyo, days in Europe/Berlin" in page.text
    assert "2026-11-19 18:00" in page.text
    assert "../fleet?tz=Asia%2FTokyo" in page.links
    assert (
        "../fleet"
        in seen(pages.job(made_up.job_report(), msgspec.structs.replace(frame, zone="Europe/Berlin"))).links
    )


def test_a_page_of_folders_below_finds_its_files():
    """Whatever the depth of the address that led to it."""
    for depth, root in ((0, "./"), (1, "../"), (3, "../../../")):
        html = pages.trouble("No", "Nothing.", msgspec.structs.replace(FRAME, depth=depth))
        assert f'href="{root}assets/report.1.css"' in html


def test_before_the_first_sweep_the_table_says_when_it_comes():
    """An empty bucket is another thing, and so is a search without a find."""
    empty = pages.experiments(Experiments(at=None), pages.TableQuery(), FRAME)
    none = pages.experiments(Experiments(at=NOW), pages.TableQuery(), FRAME)
    lost = pages.experiments(made_up.table(1), pages.TableQuery(q="x y z"), FRAME)
    assert "report_jobs writes the first one" in empty
    assert "No jobs in the bucket yet." in none
    assert "No jobs match your search." in lost


@pytest.mark.parametrize("count", [0, 1, 2, 4, 5])
def test_two_to_four_jobs_are_compared(count):
    """With fewer the page says how to choose; of more it compares four, and says so."""
    page = seen(pages.compare(made_up.comparison(*range(1, count + 1)), FRAME))
    assert ("Select two to four jobs" in page.text) == (count < 2)
    assert ("These are the first four of 5" in page.text) == (count > 4)
    assert len([link for link in page.links if link.startswith("./jobs/")]) == min(count, 4)


def test_data_in_a_page_cannot_end_its_block():
    """It is JSON all the same."""
    text = data({"name": "</script><!--&"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": "</script><!--&"}


def test_all_standings_have_their_sign():
    """Each has a class of its own in the style sheet, but for the unknown."""
    rows = tuple(made_up.experiment(n, standing=one) for n, one in enumerate(Standing))
    html = pages.experiments(Experiments(at=NOW, rows=rows), pages.TableQuery(), FRAME)
    for standing in Standing:
        assert f'class="chip {standing.value.replace(" ", "-")}"' in html
