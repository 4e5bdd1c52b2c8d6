"""How a page looks. Every text is put in escaped; there is no script and no picture."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --card: #ffffff; --ink: #1c2126; --quiet: #4d565f; --line: #d4d9de; --code: #eef0f3;
  --accent: #1257a8; --on-accent: #ffffff; --good: #17663a; --bad: #a32015; --ring: #1257a8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --card: #1e2226; --ink: #e8eaed; --quiet: #b0b8c0; --line: #3a4148; --code: #2a2f35;
    --accent: #8ab8f0; --on-accent: #10151a; --good: #7fd3a0; --bad: #ffa198; --ring: #8ab8f0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  overflow-wrap: anywhere;
}
main {
  max-width: 38rem; margin: 0 auto; padding: 1.25rem; background: var(--card);
  border: 1px solid var(--line); border-top: 4px solid var(--accent); border-radius: 8px;
}
main.good { border-top-color: var(--good); }
main.bad { border-top-color: var(--bad); }
h1 { margin: 0 0 .5rem; font-size: 1.4rem; line-height: 1.25; }
.says { font-size: 1.1rem; }
ul { padding-left: 1.2rem; }
dl { margin: 1.25rem 0; border-top: 1px solid var(--line); }
dl div { display: grid; grid-template-columns: 7rem 1fr; gap: .75rem; padding: .45rem 0;
  border-bottom: 1px solid var(--line); }
dt { color: var(--quiet); }
dd { margin: 0; min-width: 0; }
form { margin: 1.25rem 0; }
button {
  min-height: 48px; width: 100%; padding: .6rem 1.4rem; border: 0; border-radius: 6px; font: inherit;
  font-weight: 600; background: var(--accent); color: var(--on-accent); cursor: pointer;
}
fieldset { margin: 0 0 1rem; padding: 0; border: 0; }
legend { padding: 0; margin-bottom: .5rem; font-weight: 600; }
label { display: flex; gap: .75rem; align-items: center; min-height: 48px; padding: .4rem .75rem;
  margin-bottom: .5rem; border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
label span span { display: block; color: var(--quiet); }
input { width: 1.25rem; height: 1.25rem; margin: 0; flex: none; accent-color: var(--accent); }
:focus-visible { outline: 3px solid var(--ring); outline-offset: 2px; }
code { display: block; margin-top: .3rem; padding: .5rem .7rem; border-radius: 6px; background: var(--code);
  font: .9rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.quiet { color: var(--quiet); font-size: .95rem; }
@media (min-width: 40rem) { body { padding: 3rem 1rem; } main { padding: 2rem; } button { width: auto; } }
@media (max-width: 24rem) { dl div { grid-template-columns: 1fr; gap: 0; } }
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>{{ page.title }} - Spotwarden</title>
<style>{{ style }}</style>
</head>
<body>
<main class="{{ tone }}">
<h1>{{ page.title }}</h1>
<p class="says">{{ page.says }}</p>
{% if page.notes -%}
<ul>{% for note in page.notes %}<li>{{ note }}</li>{% endfor %}</ul>
{% endif -%}
{% if page.button -%}
<form method="post" action="?">
<input type="hidden" name="t" value="{{ token }}">
{% for ask in page.questions -%}
<fieldset><legend>{{ ask.legend }}</legend>
{% for choice in ask.choices -%}
<label>
<input type="radio" name="{{ ask.name }}"{% if ask.needed %} required{% endif %}
 value="{{ choice.value }}"{% if choice.chosen %} checked{% endif %}>
<span>{{ choice.label }}<span>{{ choice.detail }}</span></span></label>
{% endfor -%}
</fieldset>
{% endfor -%}
<button type="submit">{{ page.button }}</button>
</form>
{% endif -%}
{% if page.facts -%}
<dl>
{% for word, text in page.facts %}<div><dt>{{ word }}</dt><dd dir="auto">{{ text }}</dd></div>{% endfor %}
</dl>
{% endif -%}
{% if page.instead -%}
<p>{{ page.instead }}{% if page.command %}<code>{{ page.command }}</code>{% endif %}</p>
{% endif -%}
{% if page.foot -%}
<p class="quiet">{{ page.foot }}</p>
{% endif -%}
</main>
</body>
</html>
"""
