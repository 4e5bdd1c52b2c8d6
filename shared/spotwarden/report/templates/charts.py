"""Pictures: SVG that the server makes, with its words beside it for who cannot see it."""

CHARTS = """
{% macro picture(one, id) -%}
<svg viewBox="0 0 {{ one.width }} {{ one.height }}" role="img" aria-labelledby="{{ id }}-t {{ id }}-d">
<title id="{{ id }}-t">{{ one.title }}</title><desc id="{{ id }}-d">{{ one.says }}</desc>
{% for each in one.areas %}<path class="{{ each.kind }}" d="{{ each.d }}">{% if each.says %}
<title>{{ each.says }}</title>{% endif %}</path>
{% endfor %}
{% for each in one.texts %}<text x="{{ each.x }}" y="{{ each.y }}"{% if each.kind %}
 class="{{ each.kind }}"{% endif %}>{{ each.text }}</text>
{% endfor %}
</svg>
{%- endmacro %}

{% macro figure(one, id) -%}
{% if one %}
<figure>
<figcaption>{{ one.title }}{% if one.note %} <span class="quiet">{{ one.note }}</span>{% endif %}</figcaption>
<div class="wide" tabindex="0" role="region"
aria-label="{{ one.title }}, a picture that scrolls sideways">{{ picture(one, id) }}</div>
{{ key(one.key) }}
</figure>
{% endif %}
{%- endmacro %}

{% macro key(pairs) -%}
{% if pairs %}
<ul class="key">
{% for kind, name, sign in pairs %}
<li><svg viewBox="0 0 26 12" aria-hidden="true"><path class="{{ kind }}" d="{{ sign }}"/></svg>{{ name }}</li>
{% endfor %}
</ul>
{% endif %}
{%- endmacro %}

{% macro curves(one, id) -%}
<figure data-curves data-says="{{ one.picture.title }}. {{ one.picture.says }}">
<figcaption>{{ one.picture.title }} <span class="quiet">{{ one.picture.note }}</span></figcaption>
<div data-plot>{{ picture(one.picture, id) }}</div>
{{ key(one.picture.key) }}
<p class="readout" aria-live="polite"></p>
<script type="application/json">{{ data(one.data) }}</script>
</figure>
{%- endmacro %}
"""
