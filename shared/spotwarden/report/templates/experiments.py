"""The table of experiments."""

EXPERIMENTS = """{% extends "base" %}
{% from "parts" import chip, scroll, zones, keep_zone, options, exports %}
{% macro head(column, kind) %}
<th scope="col"{% if kind %} class="{{ kind }}"{% endif %}{% if column.sorted %}
 aria-sort="{{ column.sorted }}"{% endif %}>
{%- if column.url -%}
<a id="by-{{ column.id }}" data-live data-sort="{{ column.id }}" data-order="{{ column.order }}"
href="{{ column.url }}">{{ column.name }}
{%- if column.sorted %}<span class="arrow"
aria-hidden="true">{{ "▲" if column.sorted == "ascending" else "▼" }}</span>{% endif %}</a>
{%- else %}{{ column.name }}{% endif -%}
</th>
{% endmacro %}
{% block title %}Experiments{% endblock %}
{% block main %}
<h1>Experiments</h1>
{% if not frame.static %}
<form class="ask" role="search" data-ask action="{{ frame.here }}" method="get">
<label>Search <input type="search" name="q" value="{{ asked.q }}" maxlength="200"
placeholder="job, owner, zone, VM id, tag"></label>
{{ options("status", "Status", statuses, asked.status) }}
<label>Owner <input type="text" name="owner" value="{{ asked.owner }}" list="owners" maxlength="200"
autocomplete="off"></label>
<label>Team <input type="text" name="team" value="{{ asked.team }}" list="teams" maxlength="200"
autocomplete="off"></label>
{% if chosen.metrics %}
<label>Metric <select name="metric">
{% for name in chosen.metrics %}<option{% if name == chosen.metric %} selected{% endif %}>{{ name }}</option>
{% endfor %}
</select></label>
{% endif %}
<label>Rows <select name="size">
{% for size in sizes %}<option{% if size == asked.size %} selected{% endif %}>{{ size }}</option>{% endfor %}
</select></label>
<input type="hidden" name="sort" value="{{ asked.sort }}"><input type="hidden" name="order"
value="{{ asked.order }}">
{{ keep_zone(frame) }}
<button type="submit">Search</button>
<a class="plain" href="{{ frame.to('index') }}">Clear</a>
<datalist id="owners">{% for one in owners %}<option value="{{ one }}">{% endfor %}</datalist>
<datalist id="teams">{% for one in teams %}<option value="{{ one }}">{% endfor %}</datalist>
</form>
{% endif %}
<p class="unseen" role="status" id="said"></p>
<div id="live" data-sort="{{ asked.sort }}" data-order="{{ asked.order }}"
{%- if frame.static %} data-still{% endif %}>
<p id="count">{{ count }}</p>
{% if chosen.rows %}
{% if not frame.static %}
<form data-compare action="{{ frame.root }}compare" method="get">
{{ keep_zone(frame) }}
<div class="bar"><button type="submit">Compare</button>
<p class="quiet" data-chosen role="status">Tick two to four jobs.</p></div>
{% endif %}
{% call scroll("Experiments, a table that scrolls sideways") %}
<table>
<caption class="unseen">Experiments, sorted by {{ sorted_by }};
the heads of columns are links that sort</caption>
<thead><tr>
{% if not frame.static %}<th scope="col" class="box"><span class="unseen">Compare</span></th>{% endif %}
{% for column in columns %}
{{ head(column, "pin" if loop.first else "n" if column.number else "") }}
{% endfor %}
</tr></thead>
<tbody>
{% for row in chosen.rows %}
<tr>
{% if not frame.static %}<td class="box"><input class="tick" type="checkbox" name="job" value="{{ row.job }}"
aria-label="Compare {{ row.job }}"></td>{% endif %}
<th scope="row" class="pin name"><a href="{{ frame.job(row.job) }}"><bdi>{{ row.job }}</bdi></a></th>
<td>{{ chip(row.standing) }}{% if row.exit_code not in ("", "0") %}
<span class="sub">exit <bdi>{{ row.exit_code }}</bdi></span>{% endif %}
{% if row.problem %}<span class="sub">part of it cannot be read</span>{% endif %}</td>
<td>{{ say.text(row.owner, "nobody") }}{% if row.team %}
<span class="sub"><bdi>{{ row.team }}</bdi></span>{% endif %}</td>
<td class="n">{{ row.attempts or UNKNOWN }}{% if row.preemptions %}
<span class="sub">{{ row.preemptions }} preempted</span>{% endif %}</td>
<td>{{ say.text(row.zones[-1] if row.zones else "") }}
{% if row.zones | length > 1 %}<span class="sub">and {{ row.zones | length - 1 }} before</span>{% endif %}
</td>
<td>{{ say.when(row.started) }}</td>
<td class="n">{{ say.hours(row.runtime) }}</td>
<td class="n">{{ say.hours(row.up_time) }}</td>
<td class="n">{{ say.cost(row, row.cost) }}
<span class="sub">{{ say.cost(row, row.on_demand) }} on demand</span></td>
<td class="n">{{ progress(row) }}<span class="sub">{{ say.when(row.advance.at, "no sign") }}</span></td>
{% if chosen.metric %}
{% set one = measured(row) %}
<td class="n">{% if one %}{{ say.number(one.last) }}{% else %}{{ NONE }}{% endif %}</td>
<td class="n">{% if one %}{{ say.number(one.best) }}{% else %}{{ NONE }}{% endif %}</td>
{% endif %}
<td>{% for name, url in links(row) %}
<a href="{{ url }}" aria-label="{{ name }} of {{ row.job }}" rel="noreferrer">{{ name }}</a> {% else %}
{{ NONE }}{% endfor %}</td>
</tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% if not frame.static %}</form>{% endif %}
{% if pages | length > 1 %}
<nav class="pages" aria-label="Pages of the table"><ul>
{% for number, url in pages %}
<li>{% if url %}<a data-live id="page-{{ number }}" href="{{ url }}"{% if number == asked.page %}
 aria-current="page"{% endif %} aria-label="Page {{ number }}">{{ number }}</a>{% else %}
<span>…</span>{% endif %}</li>
{% endfor %}
</ul></nav>
{% endif %}
{% else %}
<p class="note">{{ nothing }}</p>
{% endif %}
<p class="quiet">{{ exports(frame, "index", asked.pairs()) }}</p>
</div>
{% endblock %}
{% block foot %}Costs are US dollars for VMs only, without disks, network and discounts.
{{ prices }}{% endblock %}
{% block zone %}{{ zones(frame, asked.pairs()) }}{% endblock %}
"""
