"""What every page has around it, and the parts that several have."""

BASE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<title>{% block title %}{% endblock %} - Spotwarden</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{{ frame.asset('report.css') }}">
{% block scripts %}
<script src="{{ frame.asset('report.js') }}" defer></script>
{% endblock %}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<strong>Spotwarden</strong>
<nav aria-label="Pages"><ul>
{% for url, name, here in frame.nav %}
<li><a href="{{ url }}"{% if here %} aria-current="page"{% endif %}>{{ name }}</a></li>
{% endfor %}
</ul></nav>
{% if frame.project %}<span class="quiet">{{ frame.project }}</span>{% endif %}
</header>
<main id="main" tabindex="-1">
{% if frame.part %}
<p class="note">Not everything is in these figures yet: the report is being made anew, or something could not
be read. The next ticks, ten minutes apart, take in the rest.</p>
{% endif %}
{% block main %}{% endblock %}
</main>
<footer>
<p>As of {{ say.when(frame.updated, "no sweep yet") }}. Times are in {{ frame.zone }},
days are those of {{ frame.home }}.
{% block foot %}{% endblock %}</p>
{% if frame.static %}
<p>This is a copy that needs no server: what searches, sorts or compares
is on the page of report_jobs.</p>
{% else %}
{% block zone %}{% endblock %}
{% endif %}
</footer>
</body>
</html>
"""

PARTS = """
{% macro chip(standing) -%}
<span class="chip {{ standing.value | replace(' ', '-') }}">{{ standing.value }}</span>
{%- endmacro %}

{% macro scroll(label) -%}
<div class="scroll" tabindex="0" role="region" aria-label="{{ label }}">{{ caller() }}</div>
{%- endmacro %}

{% macro figures(pairs) -%}
<dl class="figures">
{% for name, value, note in pairs %}
<div><dt>{{ name }}</dt><dd>{{ value }}</dd>{% if note %}<dd>{{ note }}</dd>{% endif %}</div>
{% endfor %}
</dl>
{%- endmacro %}

{% macro zones(frame, asked) -%}
<form action="{{ frame.here }}" method="get">
{% for name, value in asked %}<input type="hidden" name="{{ name }}" value="{{ value }}">{% endfor %}
<label>Time zone <select name="tz">
{% for zone in frame.zones %}<option{% if zone == frame.zone %} selected{% endif %}>{{ zone }}</option>
{% endfor %}
</select></label>
<button type="submit">Show</button>
</form>
{%- endmacro %}

{% macro keep_zone(frame) -%}
{% if frame.zone != frame.home %}<input type="hidden" name="tz" value="{{ frame.zone }}">{% endif %}
{%- endmacro %}

{% macro options(name, label, values, chosen, all="all") -%}
<label>{{ label }} <select name="{{ name }}"><option value="">{{ all }}</option>
{% for value in values %}<option{% if value == chosen %} selected{% endif %}>{{ value }}</option>{% endfor %}
</select></label>
{%- endmacro %}

{% macro evidence(pairs, label) -%}
{% if pairs %}
<details><summary>{{ label }}</summary><dl class="facts">
{% for name, value in pairs.items() %}<dt>{{ name | replace("_", " ") }}</dt><dd><bdi>{{ value }}</bdi></dd>
{% endfor %}
</dl></details>
{% endif %}
{%- endmacro %}

{% macro exports(frame, page, asked) -%}
{% if not frame.static or page in frame.copied %}
The same as <a href="{{ frame.figures(page, 'json', asked) }}">JSON</a>
or <a href="{{ frame.figures(page, 'csv', asked) }}">CSV</a>.
{% endif %}
{%- endmacro %}
"""

TROUBLE = """{% extends "base" %}
{% block title %}{{ title }}{% endblock %}
{% block main %}
<h1>{{ title }}</h1>
<p class="note bad">{{ says }}</p>
{% if todo %}<p>{{ todo }}</p>{% endif %}
<p><a href="{{ frame.to('index') }}">All experiments</a></p>
{% endblock %}
"""
