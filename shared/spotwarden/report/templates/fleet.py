"""The fleet: what was used, what was wasted, what comes next."""

FLEET = """{% extends "base" %}
{% from "parts" import scroll, figures, zones, keep_zone, exports, evidence %}
{% from "charts" import figure %}
{% block title %}Fleet{% endblock %}
{% block main %}
<h1>Fleet{% if owner %}: <bdi>{{ owner }}</bdi>{% endif %}</h1>
{% if not frame.static %}
<form class="ask" action="{{ frame.here }}" method="get">
<label>From <input type="date" name="first" value="{{ fleet.first }}"></label>
<label>to <input type="date" name="last" value="{{ fleet.last }}"></label>
<label>In <select name="unit"><option value="gpu"{% if unit == "gpu" %} selected{% endif %}>GPU-hours</option>
<option value="vm"{% if unit == "vm" %} selected{% endif %}>VM-hours</option></select></label>
<label>Owner <input type="text" name="owner" value="{{ owner }}" maxlength="200"></label>
{{ keep_zone(frame) }}
<button type="submit">Show</button>
</form>
{% endif %}
<p>{{ fleet.first }} to {{ fleet.last }}, days of {{ fleet.timezone }}, in {{ hours }}.
{{ exports(frame, "fleet", asked) }}</p>
{{ figures(top) }}
<nav aria-label="On this page"><p>On this page: <a href="#cases">open cases</a>{% for one in tables %}
, <a href="#by-{{ one.by }}">by {{ one.by }}</a>{% endfor %}, <a href="#outages">zone outages</a></p></nav>

<h2 id="cases">Open cases and what comes next</h2>
{% if cases %}
{% call scroll("Open cases, a table that scrolls sideways") %}
<table>
<caption class="unseen">Open cases, those due first</caption>
<thead><tr><th scope="col">Due</th><th scope="col">What will be done</th><th scope="col">About</th>
<th scope="col">Owner</th><th scope="col">Found</th><th scope="col">Who can say no</th></tr></thead>
<tbody>
{% for case in cases %}
<tr><td>{% if case.due %}{{ say.when(case.due) }}{% else %}<span class="quiet">nothing due</span>{% endif %}
</td>
<td>{{ say.text(case.remedy, "nothing") }}<span class="sub">{{ case.state }}</span>
{% if case.kept_until or case.kept_by %}
<span class="sub">kept until {{ say.when(case.kept_until) }}
by <bdi>{{ case.kept_by }}</bdi></span>{% endif %}</td>
<th scope="row">{% if case.job %}<a href="{{ frame.job(case.job) }}"><bdi>{{ case.job }}</bdi></a>{% else %}
<bdi>{{ case.key }}</bdi>{% endif %}
{% for one in case.targets[:3] %}<span class="sub"><bdi>{{ one }}</bdi></span>{% endfor %}
{% if case.targets | length > 3 %}<span class="sub">and {{ case.targets | length - 3 }} more</span>{% endif %}
</th>
<td>{{ say.text(case.owner, "nobody") }}</td>
<td class="wrap"><strong>{{ case.rule }}</strong>
since {{ say.when(case.since or case.opened) }}<span class="sub"><bdi>{{ case.reason }}</bdi></span>
{{ evidence(case.evidence, "Evidence") }}</td>
<td class="wrap">{% for one in case.vetoers %}<bdi>{{ one }}</bdi>{% if not loop.last %}, {% endif %}
{% else %}{{ NONE }}{% endfor %}
{% if case.veto %}<span class="sub">by <code>{{ case.veto }}</code></span>{% endif %}</td></tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% if cases_left_out %}<p class="quiet">{{ cases_left_out }}</p>{% endif %}
{% else %}
<p class="note">No case is open: nothing will be done to any VM.</p>
{% endif %}

{% for one in tables %}
<h2 id="by-{{ one.by }}">By {{ one.by }}</h2>
{{ figure(one.picture, "svg-" ~ one.by) }}
{% call scroll("By " ~ one.by ~ ", a table that scrolls sideways") %}
<table>
<caption class="unseen">{{ hours }} and US dollars by {{ one.by }}</caption>
<thead><tr><th scope="col" class="pin">{{ one.by | capitalize }}</th><th scope="col" class="n">Jobs</th>
<th scope="col" class="n">Preempted</th>
{% for name in parts %}<th scope="col" class="n">{{ name }}, h</th>{% endfor %}
<th scope="col" class="n">Waiting, h</th><th scope="col" class="n">Goodput</th>
<th scope="col" class="n">Cost, USD</th><th scope="col" class="n">Saved, USD</th>
<th scope="col" class="n">Waste, USD</th></tr></thead>
{% macro cells(slice, spans) %}
<td class="n">{{ slice.jobs }}</td><td class="n">{{ slice.preemptions }}</td>{% for time in split(spans) %}
<td class="n">{{ say.hours(time) }}</td>{% endfor %}
<td class="n">{{ say.hours(spans.waiting) }}</td><td class="n">{{ say.share(spans.goodput) }}</td>
<td class="n">{{ say.usd(slice.cost) }}</td><td class="n">{{ say.usd(slice.saved) }}</td>
<td class="n">{{ say.usd(slice.waste) }}</td>
{% endmacro %}
<tbody>
{% for slice in one.rows %}
<tr><th scope="row" class="pin name">
{%- if one.by == "owner" and slice.key and not owner and not frame.static %}
<a href="{{ of(slice.key) }}">{{ say.text(slice.key) }}</a>{% elif one.by == "job" and slice.key %}
<a href="{{ frame.job(slice.key) }}">{{ say.text(slice.key) }}</a>{% else %}
{{ say.text(slice.key, one.nobody) }}{% endif %}</th>{{ cells(slice, spans(slice)) }}</tr>
{% endfor %}
</tbody>
{% if one.rest %}<tbody><tr><th scope="row" class="pin">{{ one.rest_name }}</th>
{{ cells(one.rest, spans(one.rest)) }}</tr></tbody>{% endif %}
<tfoot><tr><th scope="row" class="pin">Total</th>{{ cells(fleet.total, spans(fleet.total)) }}</tr></tfoot>
</table>
{% endcall %}
{% endfor %}

<h2 id="outages">Zone outages</h2>
{% if outages %}
{% call scroll("Zone outages, a table that scrolls sideways") %}
<table class="heat">
<caption>What zones did, by hour of the day
<span class="quiet">VMs that they took and requests for which they had no room,
together; hours are those of {{ frame.zone }}</span></caption>
<thead><tr><th scope="col" class="pin">Zone</th>{% for hour in range(24) %}
<th scope="col">{{ "%02d" | format(hour) }}</th>{% endfor %}
<th scope="col" class="n">Took VMs</th><th scope="col" class="n">No room</th>
<th scope="col" class="n">Granted</th></tr></thead>
<tbody>
{% for zone in outages %}
<tr><th scope="row" class="pin">{{ say.text(zone.zone) }}</th>
{% for cell in zone.hours %}<td{% if cell.level %}
 class="h{{ cell.level }}" title="{{ cell.says }}"{% endif %}>{% if cell.count %}{{ cell.count }}{% else %}
<span class="quiet">0</span>{% endif %}</td>{% endfor %}
<td class="n">{{ zone.preempted }}</td><td class="n">{{ zone.stockouts }}</td>
<td class="n">{{ zone.granted }}</td></tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% else %}
<p class="note">No zone took a VM or refused one in these days.</p>
{% endif %}
{% endblock %}
{% block foot %}Costs are US dollars for VMs only, without disks, network and discounts.
{{ fleet.prices }}{% endblock %}
{% block zone %}{{ zones(frame, asked) }}{% endblock %}
"""
