// Makes a page live that works without: a table answers while one types, and no page is loaded anew.
"use strict";
(() => {
  const chosen = new Map(); // jobs that are ticked for comparison, also those on other pages of the table
  const LEAST = 2, MOST = 4, PAUSE = 200;
  let running = null, timer = 0;

  const zoneChoice = () => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    for (const select of document.querySelectorAll("select[name=tz]")) {
      if (zone && ![...select.options].some((one) => one.value === zone)) {
        select.append(new Option(`${zone} (yours)`, zone));
      }
      // What is asked now may be other than when the page came: the address knows it.
      const choose = (event) => {
        event.preventDefault();
        const url = new URL(location.href);
        url.searchParams.set("tz", select.value);
        location.assign(url);
      };
      select.addEventListener("change", choose);
      select.form.addEventListener("submit", choose);
    }
  };

  // The live part of the page: everything in it comes from the server, and is put in as it came.
  const live = () => document.getElementById("live");

  async function load(url, { push, focus }) {
    running?.abort();
    const mine = (running = new AbortController());
    try {
      const answer = await fetch(url, { signal: mine.signal, headers: { Accept: "text/html" } });
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      if (!answer.ok || !next) {
        location.assign(url);
        return;
      }
      live().replaceWith(document.adoptNode(next));
      told(next);
      if (push) history.pushState({}, "", url);
      else history.replaceState({}, "", url);
      wire();
      if (focus) document.getElementById(focus)?.focus();
    } catch (error) {
      if (error.name !== "AbortError") location.assign(url);
    } finally {
      if (running === mine) running = null;
    }
  }

  // The form keeps the order that was chosen by the head of a column; who cannot see the rows hears how many.
  function told(part) {
    for (const name of ["sort", "order"]) {
      const field = document.querySelector(`form[data-ask] input[name=${name}]`);
      if (field && part.dataset[name]) field.value = part.dataset[name];
    }
    document.getElementById("said").textContent = part.querySelector("#count")?.textContent ?? "";
  }

  function asked(form) {
    const said = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value && name !== "page") said.append(name, value);
    return `${form.getAttribute("action")}?${said}`;
  }

  function wireForm(form) {
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = 0;
        load(asked(form), { push: false });
      }, PAUSE);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      settle();
      load(asked(form), { push: true });
    });
  }

  // What was typed last has perhaps not been asked yet: whatever is asked next asks it, too.
  function settle() {
    const pending = timer !== 0;
    clearTimeout(timer);
    timer = 0;
    return pending || running !== null;
  }

  function follow(link) {
    const form = document.querySelector("form[data-ask]");
    const pending = settle();
    for (const name of ["sort", "order"]) {
      if (link.dataset[name]) form.elements[name].value = link.dataset[name];
    }
    load(pending || link.dataset.sort ? asked(form) : link.href, { push: true, focus: link.id });
  }

  function ticks(form) {
    const boxes = [...form.querySelectorAll("input[name=job]")];
    const says = form.querySelector("[data-chosen]");
    const show = () => {
      says.textContent = `${chosen.size} of ${LEAST} to ${MOST} jobs selected`;
      for (const box of boxes) box.disabled = chosen.size >= MOST && !box.checked;
    };
    for (const box of boxes) {
      box.checked = box.checked || chosen.has(box.value);
      if (box.checked) chosen.set(box.value, true);
      box.addEventListener("change", () => {
        if (box.checked) chosen.set(box.value, true);
        else chosen.delete(box.value);
        show();
      });
    }
    form.addEventListener("formdata", (event) => {
      const here = new Set(boxes.map((box) => box.value));
      for (const job of chosen.keys()) if (!here.has(job)) event.formData.append("job", job);
    });
    show();
  }

  // The table is put in anew at each answer, and so is what listens to it; the form above it stays.
  function wire() {
    const compare = document.querySelector("form[data-compare]");
    if (compare) ticks(compare);
    const part = live();
    if (!part || part.dataset.still !== undefined) return;
    for (const link of part.querySelectorAll("a[data-live]")) {
      link.addEventListener("click", (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        follow(link);
      });
    }
  }

  zoneChoice();
  const ask = document.querySelector("form[data-ask]");
  if (ask && live() && live().dataset.still === undefined) {
    wireForm(ask);
    addEventListener("popstate", () => location.reload());
  }
  wire();
})();
