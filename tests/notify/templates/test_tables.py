"""Tables in messages: what a mail shows, what others may put in, and that a chat gets along without."""

import msgspec
import pytest

from spotwarden.model.notice import WEEKLY, Table
from spotwarden.notify.outbox.tidying import MOST_COLUMNS, MOST_LINES, MOST_TABLES, read
from tests.notify.templates.messages import flood, links, message, notice, pending, post

JOBS = Table(
    title="Your jobs", columns=("job", "cost", "note"), rows=(("nap", "$1.00", ""), ("long", "$2.00", "x"))
)


def told(*tables, **facts):
    """A message of the week with these tables."""
    one = pending(notice(kind=WEEKLY, due=None, ways=(), tables=tables))
    return message(one, links=links(one, **facts))


def taken_in(table):
    """A table as it comes from the topic, tidied."""
    said = msgspec.json.encode(notice(tables=(table,)))
    return read(said).tables[0]


def test_a_table_is_lines_of_text():
    """Each begins with a mark of ours, and says of each cell what it is; what is empty is left out."""
    lines = told(JOBS).text.splitlines()
    first = lines.index("Figures: Your jobs")
    assert lines[first + 1 : first + 3] == ["  - nap: cost $1.00", "  - long: cost $2.00, note x"]


def test_a_table_is_a_table_of_the_page():
    """With a caption, heads of columns and of rows, and on a phone the name of each cell beside it."""
    html = told(JOBS).html
    assert "<caption>Your jobs</caption>" in html
    assert html.count('scope="col">') == 3
    assert '<th class="first" scope="row"><span dir="auto">nap</span></th>' in html
    assert '<td><span class="of">cost </span><span dir="auto">$1.00</span></td>' in html


def test_a_message_of_several_notices_has_no_tables():
    """They are for leisure, and there is no room."""
    assert "Your jobs" not in message(*flood(3, tables=(JOBS,))).html


@pytest.mark.parametrize("shape", ["slack", "chat"])
def test_a_chat_gets_along_without(shape):
    """The figures stand beside it; it is no place for tables."""
    one = pending(notice(kind=WEEKLY, due=None, ways=(), tables=(JOBS,)))
    assert b"busiest GPU" in post(shape, one)
    assert b"Your jobs" not in post(shape, one)


def test_a_table_without_columns_is_none():
    """Nobody could read it."""
    assert "Figures" not in told(Table(title="empty", columns=(), rows=((), ("a",)))).text


def test_the_address_of_the_report_is_a_link_in_the_message_of_the_week_alone():
    """Which promises nothing about one answer; without an address there is the command."""
    html = told(JOBS, report="https://report.example.com/").html
    assert '<a class="go" href="https://report.example.com/"' in html
    assert ">Open the report</a>" in html
    assert "Each button shows" not in html
    assert "gcloud run services proxy report-jobs" in told(JOBS).html
    assert (
        "report.example.com" not in message(links=links(pending(), report="https://report.example.com/")).html
    )


def test_an_address_that_nobody_may_be_sent_to_is_no_link():
    """Whatever stands in the environment."""
    assert "javascript:" not in told(JOBS, report="javascript:alert(1)").html


@pytest.mark.parametrize(
    ("rows", "kept", "last"),
    [(MOST_LINES, MOST_LINES, "49"), (MOST_LINES + 1, MOST_LINES + 1, "… and 1 more")],
)
def test_a_long_table_says_what_is_left_out(rows, kept, last):
    """In its last line, which is one more than may be."""
    table = taken_in(Table(title="t", columns=("a", "b"), rows=tuple((str(row), "") for row in range(rows))))
    assert len(table.rows) == kept
    assert table.rows[-1] == (last, "")


def test_every_row_has_as_many_cells_as_there_are_columns():
    """Those too few are empty, those too many left out."""
    table = taken_in(Table(title="t", columns=("a", "b"), rows=((), ("1",), ("1", "2", "3"))))
    assert table.rows == (("", ""), ("1", ""), ("1", "2"))


@pytest.mark.parametrize(
    ("columns", "kept"), [(MOST_COLUMNS, MOST_COLUMNS), (MOST_COLUMNS + 1, MOST_COLUMNS)]
)
def test_a_table_is_no_wider_than_a_message(columns, kept):
    """Eight columns."""
    assert len(taken_in(Table(title="t", columns=("c",) * columns, rows=())).columns) == kept


@pytest.mark.parametrize(("tables", "kept"), [(MOST_TABLES, MOST_TABLES), (MOST_TABLES + 1, MOST_TABLES)])
def test_a_notice_has_few_tables(tables, kept):
    """Four."""
    assert len(read(msgspec.json.encode(notice(tables=(JOBS,) * tables))).tables) == kept


def test_a_cell_is_cut_where_it_is_longer_than_anybody_reads():
    """And says so."""
    table = taken_in(Table(title="t", columns=("a",), rows=(("x" * 5000,),)))
    assert table.rows[0][0].endswith("(cut: it has 5000 characters)")
    assert len(table.rows[0][0]) < 300
