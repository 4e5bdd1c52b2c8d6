"""The trust page: every action, with its evidence."""

TRUST = """{% extends "base" %}
{% from "parts" import scroll, zones, keep_zone, options, evidence, exports %}
{% block title %}{{ "Why: " ~ query.about if query.about else "Trust" }}{% endblock %}
{% block main %}
<h1>Trust: what was done, and why</h1>
{% if not frame.static %}
<form class="ask" role="search" data-ask action="{{ frame.here }}" method="get">
<label>Job, VM or instance id <input type="search" name="about" value="{{ query.about }}" maxlength="200"
placeholder="why was my VM deleted?"></label>
<label>Words <input type="text" name="text" value="{{ query.text }}" maxlength="200"></label>
{{ options("function", "Function", trust.functions, query.function) }}
{{ options("rule", "Rule", trust.rules, query.rule) }}
{{ options("action", "Action", trust.actions, query.action) }}
<label>Day <input type="date" name="day" value="{{ query.day or '' }}"></label>
<label>Show <select name="changes"><option value="">everything</option>
<option value="1"{% if query.changes %} selected{% endif %}>what changed VMs</option></select></label>
{{ keep_zone(frame) }}
<button type="submit">Search</button>
<a class="plain" href="{{ frame.to('trust') }}">Clear</a>
</form>
{% endif %}
<p class="unseen" role="status" id="said"></p>
<div id="live"{% if frame.static %} data-still{% endif %}>
{% if query.about %}
<section aria-labelledby="answer">
<h2 id="answer">What happened to <bdi>{{ query.about }}</bdi></h2>
<p class="note{% if trust.answer %} bad{% endif %}">{% if trust.answer %}
<bdi>{{ trust.answer }}</bdi>{% else %}{{ nothing }}{% endif %}
{% if trust.by and trust.by in shown %}
 <a href="#entry-{{ shown[trust.by] }}">The evidence</a>.{% endif %}</p>
</section>
{% endif %}
<p id="count">{{ count }}</p>
{% if trust.entries %}
{% call scroll("Actions, a table that scrolls sideways") %}
<table>
<caption class="unseen">Actions, newest first</caption>
<thead><tr><th scope="col">When</th><th scope="col">Action</th><th scope="col">About</th>
<th scope="col">Why</th><th scope="col">Outcome</th><th scope="col">By</th><th scope="col">Policy</th>
</tr></thead>
<tbody>
{% for entry in trust.entries %}
<tr id="entry-{{ loop.index }}"><td>{{ say.when(entry.at) }}</td>
<th scope="row">{{ action(entry) }}{% if entry.rule %}
<span class="sub">rule {{ entry.rule }}</span>{% endif %}
</th>
<td>{% if entry.job %}<a href="{{ frame.job(entry.job) }}"><bdi>{{ entry.job }}</bdi></a>{% else %}
{{ NONE }}{% endif %}{% if entry.node %}<span class="sub"><bdi>{{ entry.node }}</bdi></span>{% endif %}
{% for id in entry.instance_ids[:3] %}<span class="sub">{% if frame.static %}<bdi>{{ id }}</bdi>{% else %}
<a href="{{ frame.to('trust', [('about', id)]) }}"><bdi>{{ id }}</bdi></a>{% endif %}</span>{% endfor %}
{% if entry.instance_ids | length > 3 %}
<span class="sub">and {{ entry.instance_ids | length - 3 }} more</span>{% endif %}</td>
<td class="wrap"><bdi>{{ entry.why }}</bdi>{% if entry.place %}
<span class="sub">in <bdi>{{ entry.place }}</bdi></span>{% endif %}
{{ evidence(entry.evidence, "Evidence") }}</td>
<td class="wrap">{{ outcome(entry) }}{% if entry.detail %}
<span class="sub"><bdi>{{ entry.detail }}</bdi></span>{% endif %}</td>
<td><bdi>{{ entry.function }}</bdi>{% if record(entry) %}
<span class="sub"><a href="{{ record(entry) }}" rel="noreferrer"
aria-label="Record of {{ action(entry) }} at {{ say.stamp(entry.at) }}">record</a></span>{% endif %}</td>
<td><code>{{ entry.policy or "unknown" }}</code></td></tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
{% endif %}
<p class="quiet">{{ exports(frame, "trust", asked) }}</p>
</div>
{% endblock %}
{% block zone %}{{ zones(frame, asked) }}{% endblock %}
"""
