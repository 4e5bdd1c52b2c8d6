"""The page of a message. Mail programs know little: one column, few rules, links that look like buttons."""

_STYLE = """
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 0; background: #f4f5f7; color: #1b1f24;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.message { max-width: 600px; margin: 0 auto; padding: 16px; background: #ffffff; overflow-wrap: anywhere; }
h1 { font-size: 20px; line-height: 1.3; margin: 20px 0 8px; }
h2 { font-size: 17px; line-height: 1.3; margin: 0 0 8px; }
p { margin: 8px 0; }
.lead { font-size: 17px; border-left: 4px solid #57606a; padding: 2px 0 2px 12px; margin: 0 0 12px; }
.urgent .lead { border-color: #b3261e; }
.warning .lead { border-color: #9a6700; }
.again { background: #fff3cd; color: #4d3800; padding: 10px 12px; border-radius: 6px; margin: 0 0 16px; }
.item { border-top: 1px solid #d0d7de; padding: 20px 0 8px; margin: 20px 0 0; }
.item .lead { font-size: 16px; }
.tag { font-size: 13px; font-weight: 600; color: #57606a; margin: 0 0 2px; }
.urgent .tag { color: #b3261e; }
.warning .tag { color: #7a5200; }
.quiet, footer { font-size: 14px; color: #57606a; }
footer { border-top: 1px solid #d0d7de; margin: 24px 0 0; padding: 8px 0 0; }
footer a { display: inline-block; padding: 12px 0; color: #0550ae; }
.figures { width: 100%; border-collapse: collapse; font-size: 13px; line-height: 1.35; margin: 20px 0;
  font-variant-numeric: tabular-nums; }
.figures caption { text-align: left; font-weight: 600; font-size: 14px; padding: 4px 0; }
.figures th, .figures td { padding: 6px 0 6px 8px; border-top: 1px solid #d0d7de; text-align: right;
  vertical-align: top; overflow-wrap: normal; }
.figures tr { border-color: #d0d7de; }
.of { display: none; color: #57606a; }
.figures th:first-child { text-align: left; padding-left: 0; width: 32%; overflow-wrap: anywhere; }
.figures th { font-weight: 400; color: #57606a; }
.figures tbody th { color: inherit; }
.facts { width: 100%; border-collapse: collapse; font-size: 14px; margin: 12px 0; }
.facts caption { text-align: left; font-weight: 600; padding: 4px 0; }
.facts th { text-align: left; font-weight: 400; color: #57606a; width: 38%; }
.facts th, .facts td { padding: 6px 8px 6px 0; border-top: 1px solid #d0d7de; vertical-align: top; }
code { font: 14px/1.5 ui-monospace, Menlo, Consolas, monospace; background: #eef1f4; color: #1b1f24;
  padding: 1px 4px; border-radius: 4px; }
.go { display: inline-block; min-width: 96px; padding: 11px 16px; margin: 4px 8px 4px 0; border-radius: 6px;
  line-height: 22px; font-weight: 600; text-align: center; text-decoration: none;
  background: #0b57d0; color: #ffffff; }
.grave { background: transparent; color: #b3261e; padding: 9px 14px; border: 2px solid #b3261e; }
@media (prefers-color-scheme: dark) {
  body { background: #0d1117; color: #e6edf3; }
  .message { background: #161b22; }
  .again { background: #4d3800; color: #fff3cd; }
  .item, footer, .facts th, .facts td { border-color: #3d444d; }
  .figures th, .figures td, .figures tr { border-color: #3d444d; }
  .lead { border-color: #9198a1; }
  .urgent .lead { border-color: #ff8a80; }
  .warning .lead { border-color: #e3b341; }
  .tag, .quiet, footer, .facts th, .figures thead th, .of { color: #a8b1bb; }
  .urgent .tag { color: #ff9d94; }
  .warning .tag { color: #e3b341; }
  .grave { color: #ff9d94; border-color: #ff9d94; }
  footer a { color: #79b8ff; }
  code { background: #2a313a; color: #e6edf3; }
}
@media (max-width: 479px) {
  .go { display: block; margin: 8px 0; }
  .figures thead { display: none; }
  .figures, .figures caption, .figures tbody, .figures tr, .figures th, .figures td { display: block;
    text-align: left; }
  .figures tr { border-width: 1px 0 0; border-style: solid; padding: 6px 0; }
  .figures th:first-child, .figures td { width: auto; border: 0; padding: 1px 0; }
  .figures tbody th { font-weight: 600; }
  .of { display: inline; }
}
"""

_MACROS = """
{% macro words(line) -%}
<bdi>{% for part, is_code in line | code_split -%}
{% if is_code %}<code>{{ part }}</code>{% else %}{{ part }}{% endif %}
{%- endfor %}</bdi>
{%- endmacro %}
{% macro told(part) %}
<p class="lead"><strong>{{ part.lead }}</strong>{% if part.todo %} {{ words(part.todo) }}{% endif %}</p>
{% if part.buttons %}
<p>
{% for one in part.buttons %}
<a class="go{{ ' grave' if one.grave else '' }}" href="{{ one.url }}"
 aria-label="{{ one.label }}: {{ part.title }}">{{ one.label }}</a>
{% endfor %}
</p>
{% endif %}
{% endmacro %}
{% macro grounds(part) %}
{% if part.then %}
<p><strong>What will happen:</strong> {{ words(part.then) }}</p>
{% endif %}
{% if part.why %}
<p><strong>Why:</strong> {{ words(part.why) }}</p>
{% endif %}
{% if part.rows %}
<table class="facts">
<caption>What is known</caption>
{% for label, value in part.rows %}
<tr><th scope="row"><bdi>{{ label }}</bdi></th><td><bdi>{{ value }}</bdi></td></tr>
{% endfor %}
</table>
{% endif %}
{% for table in part.tables %}
<table class="figures">
<caption>{{ table.title }}</caption>
<thead><tr>
{% for column in table.columns %}
<th scope="col">{{ column }}</th>
{% endfor %}
</tr></thead>
<tbody>
{% for row in table.rows %}
<tr>
<th scope="row"><bdi>{{ row[0] }}</bdi></th>
{% for cell in row[1:] %}
<td><span class="of">{{ table.columns[loop.index] }} </span><bdi>{{ cell }}</bdi></td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
{% endfor %}
{% if part.report %}
<p><a class="go" href="{{ part.report }}">Open the report</a></p>
{% endif %}
{% for command in part.commands %}
<p><strong>By command:</strong> <code>{{ command }}</code></p>
{% endfor %}
<p class="quiet"><bdi>{{ part.reader }}</bdi></p>
{% endmacro %}
"""

PAGE = (
    _MACROS
    + """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{ view.subject }}</title>
<style>"""
    + _STYLE
    + """</style>
</head>
<body>
<main class="message">
{% if view.again %}
<p class="again">{{ view.again }}</p>
{% endif %}
{% if many %}
<p class="lead"><strong>{{ view.lead }}</strong></p>
<h1><bdi>{{ view.subject }}</bdi></h1>
{% for part in view.parts %}
<section class="item {{ part.severity.value }}">
<p class="tag">{{ loop.index }} · {{ part.severity.value | capitalize }}</p>
<h2><bdi>{{ part.title }}</bdi></h2>
{{ told(part) }}
{{ grounds(part) }}
</section>
{% endfor %}
{% if view.rest %}
<p class="item">{{ words(view.rest) }}</p>
{% if view.short %}
<ul>
{% for line in view.short %}
<li><bdi>{{ line }}</bdi></li>
{% endfor %}
</ul>
{% endif %}
{% endif %}
{% else %}
{% for part in view.parts %}
<div class="{{ part.severity.value }}">
{{ told(part) }}
<h1><bdi>{{ part.title }}</bdi></h1>
{{ grounds(part) }}
</div>
{% endfor %}
{% endif %}
<footer>
{% if view.parts | selectattr("buttons") | list %}
<p>{{ one_click }}</p>
{% endif %}
<p>Spotwarden</p>
{% if view.preferences %}
<p><a href="{{ view.preferences }}">How often you hear of what is not urgent</a></p>
{% endif %}
</footer>
</main>
</body>
</html>
"""
)
