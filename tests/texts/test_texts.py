"""The snapshot of all texts: what people read changes in review, not unseen."""

from tests.texts.write_texts import SNAPSHOT, snapshot


def test_the_snapshot_of_all_texts_is_up_to_date():
    """Otherwise write it: `python -m tests.texts.write_texts`."""
    assert SNAPSHOT.read_text(encoding="utf-8") == snapshot()
