"""What the metadata server says when it does not answer: short pages for people, a status for programs."""

import html

from starlette.responses import HTMLResponse, Response

TITLES = {
    400: "Error 400 (Bad Request)!!1",
    403: "Error 403 (Forbidden)!!1",
    404: "Error 404 (Not Found)!!1",
    405: "Error 405 (Method Not Allowed)!!1",
}
PAGE = (
    "<!DOCTYPE html>\n<html lang=en>\n<title>{title}</title>\n"
    "<p><b>{status}.</b> <ins>That's an error.</ins>\n<p>{text} <ins>That's all we know.</ins>\n"
)
NOT_FOUND = "The requested URL <code>{path}</code> was not found on this server."
NOT_ALLOWED = "Your client does not have permission to get URL <code>{path}</code> from this server. "


class Refusal(Exception):  # noqa: N818 - it is an answer, and not always about an error
    """An answer with this status; `{path}` in the text stands for the path that was asked for."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text

    def page(self, path: str) -> Response:
        """The answer as the page that the client gets."""
        text = self.text.replace("{path}", html.escape(path))
        page = PAGE.format(title=TITLES[self.status], status=self.status, text=text)
        return HTMLResponse(page, status_code=self.status)


def not_found() -> Refusal:
    """There is nothing at that path."""
    return Refusal(404, NOT_FOUND)
