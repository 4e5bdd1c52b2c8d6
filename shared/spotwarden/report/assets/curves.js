// Draws metric curves with uPlot in place of the server's picture: one looks closer by dragging, or with + and -.
"use strict";
(() => {
  const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const shown = (value) => (value == null ? "unknown" : String(+value.toPrecision(5)));
  const drawn = [];

  function options(figure, said, width) {
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid") } };
    const readout = figure.querySelector(".readout");
    return {
      width,
      height: 260,
      legend: { show: false },
      scales: { x: { time: false } },
      axes: [axis, { ...axis, size: 64 }],
      cursor: { drag: { x: true, y: false } },
      series: [
        { label: said.x },
        ...said.names.map((label, at) => ({
          label,
          stroke: colour(`--c${at + 1}`),
          width: 1.75,
          dash: DASHES[at],
          spanGaps: said.gaps[at],
          points: { show: said.data[at + 1].filter((one) => one != null).length < 40 },
        })),
      ],
      hooks: {
        setCursor: [
          (plot) => {
            const at = plot.cursor.idx;
            if (at == null) return;
            const values = said.names.map((name, one) => `${name} ${shown(plot.data[one + 1][at])}`);
            readout.textContent = `${said.x} ${shown(plot.data[0][at])}: ${values.join(", ")}`;
          },
        ],
      },
    };
  }

  // uPlot draws equal moments of all curves from one list: the union of their steps, with null where one has none.
  function united(curves) {
    const steps = [...new Set(curves.flatMap((one) => one.x))].sort((a, b) => a - b);
    const rows = curves.map((one) => {
      const at = new Map(one.x.map((x, index) => [x, one.y[index]]));
      return steps.map((x) => (at.has(x) ? at.get(x) : undefined));
    });
    return [steps, ...rows];
  }

  function zoom(plot, by) {
    const { min, max } = plot.scales.x;
    const middle = (min + max) / 2, half = ((max - min) / 2) * by;
    const all = plot.data[0];
    plot.setScale("x", { min: Math.max(all[0], middle - half), max: Math.min(all[all.length - 1], middle + half) });
  }

  function move(plot, by) {
    const at = Math.min(plot.data[0].length - 1, Math.max(0, (plot.cursor.idx ?? 0) + by));
    plot.setCursor({ left: plot.valToPos(plot.data[0][at], "x"), top: plot.over.clientHeight / 2 });
  }

  function draw(figure) {
    const said = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    if (!said.curves.some((one) => one.x.length)) return;
    const place = figure.querySelector("[data-plot]");
    said.names = said.curves.map((one) => one.name);
    said.gaps = said.curves.map((one) => one.y.every((y) => y !== null));
    said.data = united(said.curves);
    const picture = place.firstElementChild;
    let plot = null;
    const again = () => {
      plot?.destroy();
      plot = new uPlot(options(figure, said, place.clientWidth), said.data, place);
    };
    again();
    picture.hidden = true;
    picture.setAttribute("class", "u-off");
    place.tabIndex = 0;
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", `${figure.dataset.says} Arrow keys read the values, plus and minus zoom, Escape shows all.`);
    place.addEventListener("keydown", (event) => {
      const entries = {
        ArrowLeft: () => move(plot, -1), ArrowRight: () => move(plot, 1),
        "+": () => zoom(plot, 0.5), "-": () => zoom(plot, 2), Escape: () => zoom(plot, 1e9),
      };
      if (!entries[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      entries[event.key]();
    });
    drawn.push({ place, again, resize: () => plot.setSize({ width: place.clientWidth, height: 260 }) });
  }

  for (const figure of document.querySelectorAll("figure[data-curves]")) draw(figure);
  const room = new ResizeObserver(() => drawn.forEach((one) => one.resize()));
  drawn.forEach((one) => room.observe(one.place.parentElement));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach((one) => one.again()));
})();
