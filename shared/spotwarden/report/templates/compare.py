"""Two to four jobs beside each other."""

COMPARE = """{% extends "base" %}
{% from "parts" import chip, scroll, zones, exports %}
{% from "charts" import curves %}
{% block title %}Compare {{ names | join(", ") }}{% endblock %}
{% block scripts %}
{{ super() }}
{% if drawn %}
<script src="{{ frame.asset('uPlot.iife.min.js') }}" defer></script>
<script src="{{ frame.asset('curves.js') }}" defer></script>
{% endif %}
{% endblock %}
{% block main %}
<h1>Compare</h1>
{% if missing %}<p class="note bad">There is no job <bdi>{{ missing | join(", ") }}</bdi>.</p>{% endif %}
{% if trouble %}<p class="note">{{ trouble }}</p>{% endif %}
{% if jobs %}
{% call scroll("Jobs beside each other, a table that scrolls sideways") %}
<table>
<caption>Figures <span class="quiet">what is the same for all is grey</span></caption>
<thead><tr><th scope="col" class="pin">Figure</th>{% for one in jobs %}
<th scope="col"><a href="{{ frame.job(one.job) }}"><bdi>{{ one.job }}</bdi></a></th>{% endfor %}</tr></thead>
<tbody>
{% for name, cells, same in rows %}
<tr><th scope="row" class="pin">{{ name }}</th>{% for cell in cells %}<td class="wrap{% if same %}
 quiet{% endif %}">{{ cell }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table>
{% endcall %}
<h2>Metrics</h2>
{% if drawn %}
<div class="pair">
{% for one in drawn %}{{ curves(one, "curve-" ~ loop.index) }}{% endfor %}
</div>
{% else %}
<p class="note">Their heartbeats say no metrics.</p>
{% endif %}
<p class="quiet">{{ exports(frame, "compare", asked) }}</p>
{% endif %}
<p><a href="{{ frame.to('index') }}">All experiments</a></p>
{% endblock %}
{% block foot %}Costs are US dollars for VMs only, without disks, network and discounts.{% endblock %}
{% block zone %}{{ zones(frame, asked) }}{% endblock %}
"""
