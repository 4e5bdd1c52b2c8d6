"""The page of one job."""

JOB = """{% extends "base" %}
{% from "parts" import chip, scroll, figures, zones, evidence, exports %}
{% from "charts" import figure, curves %}
{% block title %}{{ row.job }}{% endblock %}
{% block scripts %}
{{ super() }}
{% if drawn %}
<script src="{{ frame.asset('uPlot.iife.min.js') }}" defer></script>
<script src="{{ frame.asset('curves.js') }}" defer></script>
{% endif %}
{% endblock %}
{% block main %}
<h1><bdi>{{ row.job }}</bdi></h1>
<p>{{ chip(row.standing) }}{% if row.exit_code %}, exit status <bdi>{{ row.exit_code }}</bdi>{% endif %}</p>
{% if row.problem %}<p class="note bad">{{ row.problem }}</p>{% endif %}
{{ figures(top) }}
<dl class="facts">
{% for name, value in facts %}<dt>{{ name }}</dt><dd>{{ value }}</dd>{% endfor %}
{% if links %}
<dt>Files</dt><dd>{% for name, url in links %}
<a href="{{ url }}" rel="noreferrer">{{ name }}</a>{% if not loop.last %}, {% endif %}{% endfor %}</dd>
{% endif %}
{% if not frame.static %}
<dt>Trust</dt>
<dd><a href="{{ frame.to('trust', [('about', row.job)]) }}">Everything that was done to this job</a></dd>
{% endif %}
</dl>

<h2 id="timeline">Timeline</h2>
{{ figure(picture, "timeline-svg") }}
{% if not picture %}<p class="note">Nothing is on record of when its VMs were up.</p>{% endif %}
{% if report.bars %}
{% call scroll("VMs, a table that scrolls sideways") %}
<table>
<caption>VMs <span class="quiet">each stay of a VM in an attempt{% if not frame.static %}
; the id leads to what was done to it, and why{% endif %}</span></caption>
<thead><tr><th scope="col" class="n">Attempt</th><th scope="col">VM</th><th scope="col">Instance id</th>
<th scope="col">Zone</th><th scope="col">Machine</th>
<th scope="col">Up from</th><th scope="col">to</th><th scope="col" class="n">Up, h</th>{% if report.loads %}
<th scope="col" class="n">GPUs busy</th>{% endif %}

<th scope="col">How it ended</th><th scope="col">Saved up to</th></tr></thead>
<tbody>
{% for bar in bars %}
<tr><td class="n">{{ bar.attempt }}</td><th scope="row">{{ say.text(bar.node) }}</th>
<td>{% if bar.instance_id and not frame.static %}
<a href="{{ frame.to('trust', [('about', bar.instance_id)]) }}">{{ bar.instance_id }}</a>{% else %}
{{ say.text(bar.instance_id) }}{% endif %}</td>
<td>{{ say.text(bar.zone) }}</td><td>{{ say.text(bar.machine) }}{% if bar.spot is not none %}
<span class="sub">{{ "spot" if bar.spot else "on demand" }}</span>{% endif %}</td>
<td>{{ say.when(bar.start) }}</td><td>{% if bar.fate.value == "up" %}<span class="quiet">now</span>{% else %}
{{ say.when(bar.end) }}{% endif %}</td>
<td class="n">{% if bar.end or bar.fate.value == "up" %}
{{ say.hours((bar.end or report.at) - bar.start) }}{% else %}{{ UNKNOWN }}{% endif %}</td>
{% if report.loads %}<td class="n">{{ busy(bar) }}</td>{% endif %}
<td class="wrap">{{ bar.fate.value }}{% if bar.why %}
<span class="sub"><bdi>{{ bar.why }}</bdi></span>{% endif %}</td>
<td>{% if bar.kept %}{{ say.when(bar.kept) }}{% elif bar.fate.value in ("preempted", "lost") %}
{{ UNKNOWN }}{% endif %}</td></tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% if bars_left_out %}<p class="quiet">{{ bars_left_out }}</p>{% endif %}
{% endif %}
{% if report.waits %}
<h3 id="waits">Waits</h3>
{% call scroll("Waits, a table that scrolls sideways") %}
<table>
<caption class="unseen">Waits</caption>
<thead><tr><th scope="col" class="n">Before attempt</th><th scope="col">From</th><th scope="col">to</th>
<th scope="col">How long</th><th scope="col">Why</th><th scope="col">Places that gave nothing</th>
</tr></thead>
<tbody>
{% for wait in report.waits %}
<tr><th scope="row" class="n">{{ wait.attempt }}</th><td>{{ say.when(wait.start) }}</td>
<td>{{ say.when(wait.end, "now") }}</td>
<td>{{ say.span((wait.end or report.at) - wait.start) }}</td><td class="wrap">{{ say.text(wait.reason) }}</td>
<td class="wrap">{% if wait.refused %}<details><summary>{{ wait.refused | length }}</summary><ul>
{% for one in wait.refused %}<li>{{ say.when(one.at) }} <bdi>{{ one.place }}</bdi>:
<bdi>{{ one.error }}</bdi></li>{% endfor %}</ul></details>{% else %}{{ NONE }}{% endif %}</td></tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% endif %}
{% if marks %}
<h3 id="events">Events</h3>
{% call scroll("Events, a table that scrolls sideways") %}
<table>
<caption class="unseen">Events, oldest first</caption>
<thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col" class="n">Attempt</th>
<th scope="col">VM</th><th scope="col">More</th></tr></thead>
<tbody>
{% for mark in marks %}
<tr><td>{{ say.when(mark.at) }}</td><th scope="row">{{ mark.kind.value }}</th>
<td class="n">{% if mark.attempt is not none %}{{ mark.attempt }}{% endif %}</td>
<td><bdi>{{ mark.node }}</bdi></td>
<td class="wrap"><bdi>{{ mark.what }}</bdi>{% if mark.entry and mark.entry in shown %}
 <a href="#entry-{{ shown[mark.entry] }}">evidence</a>{% endif %}</td></tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% if marks_left_out %}<p class="quiet">{{ marks_left_out }}</p>{% endif %}
{% endif %}

<h2 id="metrics">Metrics</h2>
{% if row.metrics %}
{% call scroll("Metrics, a table that scrolls sideways") %}
<table>
<caption class="unseen">Metrics</caption>
<thead><tr><th scope="col">Metric</th><th scope="col" class="n">Last</th><th scope="col" class="n">Best</th>
<th scope="col" class="n">Lowest</th><th scope="col" class="n">Highest</th><th scope="col" class="n">Step</th>
<th scope="col">At</th></tr></thead>
<tbody>
{% for one in row.metrics %}
<tr><th scope="row"><bdi>{{ one.name }}</bdi></th><td class="n">{{ say.number(one.last) }}</td>
<td class="n">{{ say.number(one.best) }}</td><td class="n">{{ say.number(one.lowest) }}</td>
<td class="n">{{ say.number(one.highest) }}</td><td class="n">{{ say.number(one.step) }}</td>
<td>{{ say.when(one.at) }}</td></tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% else %}
<p class="note">Its heartbeats say no metrics.</p>
{% endif %}
<div class="pair">
{% for one in drawn %}{{ curves(one, "curve-" ~ loop.index) }}{% endfor %}
</div>

<h2 id="entries">What was done, and why</h2>
{% if report.entries %}
{% call scroll("What was done, a table that scrolls sideways") %}
<table>
<caption class="unseen">What was done, oldest first</caption>
<thead><tr><th scope="col">When</th><th scope="col">Action</th><th scope="col">By</th><th scope="col">Why</th>
<th scope="col">Outcome</th><th scope="col">Policy</th></tr></thead>
<tbody>
{% for entry in report.entries %}
<tr id="entry-{{ loop.index }}"><td>{{ say.when(entry.at) }}</td>
<th scope="row">{{ action(entry) }}{% if entry.node %}
<span class="sub"><bdi>{{ entry.node }}</bdi></span>{% endif %}</th>
<td><bdi>{{ entry.function }}</bdi></td>
<td class="wrap"><bdi>{{ entry.why }}</bdi>{{ evidence(entry.evidence, "Evidence") }}</td>
<td class="wrap">{{ outcome(entry) }}{% if entry.detail %}
<span class="sub"><bdi>{{ entry.detail }}</bdi></span>{% endif %}</td><td><code>{{ entry.policy }}</code></td>
</tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% if report.entries_left_out %}<p class="quiet">{{ "{:,}".format(report.entries_left_out) }}
older ones are on the trust page.</p>{% endif %}
{% else %}
<p class="note">Nothing was done to this job.</p>
{% endif %}
<p class="quiet">{{ exports(frame, frame.page, []) }}</p>
{% endblock %}
{% block foot %}Costs are US dollars for VMs only, without disks, network and discounts.
{{ report.prices }}{% endblock %}
{% block zone %}{{ zones(frame, []) }}{% endblock %}
"""
