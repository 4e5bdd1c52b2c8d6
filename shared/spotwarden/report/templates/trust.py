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
{% if trust.by and trust.by in shown %} <a href="#deed-{{ shown[trust.by] }}">The evidence</a>.{% endif %}</p>
</section>
{% endif %}
<p id="count">{{ count }}</p>
{% if trust.deeds %}
{% call scroll("Actions, a table that scrolls sideways") %}
<table>
<caption class="unseen">Actions, newest first</caption>
<thead><tr><th scope="col">When</th><th scope="col">Action</th><th scope="col">About</th>
<th scope="col">Why</th><th scope="col">Outcome</th><th scope="col">By</th><th scope="col">Policy</th>
</tr></thead>
<tbody>
{% for deed in trust.deeds %}
<tr id="deed-{{ loop.index }}"><td>{{ say.when(deed.at) }}</td>
<th scope="row">{{ action(deed) }}{% if deed.rule %}<span class="sub">rule {{ deed.rule }}</span>{% endif %}
</th>
<td>{% if deed.job %}<a href="{{ frame.job(deed.job) }}"><bdi>{{ deed.job }}</bdi></a>{% else %}
{{ NONE }}{% endif %}{% if deed.node %}<span class="sub"><bdi>{{ deed.node }}</bdi></span>{% endif %}
{% for id in deed.instance_ids[:3] %}<span class="sub">{% if frame.static %}<bdi>{{ id }}</bdi>{% else %}
<a href="{{ frame.to('trust', [('about', id)]) }}"><bdi>{{ id }}</bdi></a>{% endif %}</span>{% endfor %}
{% if deed.instance_ids | length > 3 %}
<span class="sub">and {{ deed.instance_ids | length - 3 }} more</span>{% endif %}</td>
<td class="wrap"><bdi>{{ deed.why }}</bdi>{% if deed.place %}
<span class="sub">in <bdi>{{ deed.place }}</bdi></span>{% endif %}
{{ evidence(deed.evidence, "Evidence") }}</td>
<td class="wrap">{{ outcome(deed) }}{% if deed.detail %}
<span class="sub"><bdi>{{ deed.detail }}</bdi></span>{% endif %}</td>
<td><bdi>{{ deed.function }}</bdi>{% if record(deed) %}
<span class="sub"><a href="{{ record(deed) }}" rel="noreferrer"
aria-label="Record of {{ action(deed) }} at {{ say.stamp(deed.at) }}">record</a></span>{% endif %}</td>
<td><code>{{ deed.policy or "unknown" }}</code></td></tr>
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
