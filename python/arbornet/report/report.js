"use strict";
// Everything a file could have put into the data becomes text, never markup: elements are built with textContent,
// pictures are parsed as SVG that the writer of this page escaped.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { variables, arcs } = data;
  const byId = (id) => document.getElementById(id);
  const graph = byId("graph");
  const picture = graph.querySelector("svg");
  const nodes = [...picture.querySelectorAll(".an-node")];
  const arcGroups = [...picture.querySelectorAll(".an-arc")];
  const articles = new Map();
  let selected = null;

  // --- building blocks -------------------------------------------------------------------------------------------
  function element(tag, attributes = {}, ...children) {
    const out = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
      else out.setAttribute(key, value);
    }
    out.append(...children.filter((child) => child !== null && child !== undefined));
    return out;
  }
  const number = (x, digits = 4) => (x === null ? "" : Number(x).toLocaleString("en", { maximumSignificantDigits: digits }));
  const link = (i) => element("button", { type: "button", class: "link", onclick: () => select(i, true) }, variables[i].name);

  function figure(source) {
    const parsed = document.importNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement, true);
    const width = Number(parsed.getAttribute("width"));
    parsed.style.width = "100%";
    parsed.style.maxWidth = `${width}px`;
    parsed.style.minWidth = `${Math.min(width, Math.max(320, width * 0.62))}px`;
    return element("div", { class: "picture", tabindex: "0", role: "group", "aria-label": parsed.getAttribute("aria-label") }, parsed);
  }

  function strength(arc) {
    if (arc.strength === null) return element("td");
    const bar = element("i");
    bar.style.width = `${100 * Math.min(1, Math.max(0, arc.strength))}%`;
    return element("td", {}, element("span", { class: "bar", "aria-hidden": "true" }, bar), arc.strength.toFixed(2));
  }

  function arcTable(table, shown, ends) {
    const heads = { parent: "From", child: "To" };
    const known = (key) => shown.some((arc) => arc[key] !== null);
    const row = element("tr", {}, ...ends.map((end) => element("th", { scope: "col" }, heads[end])));
    if (known("strength")) row.append(element("th", { scope: "col" }, "Strength"));
    if (known("contribution")) row.append(element("th", { scope: "col", class: "number" }, "Score lost without it"));
    table.append(element("thead", {}, row));
    const body = element("tbody");
    for (const arc of shown) {
      const line = element("tr", {}, ...ends.map((end) => element("td", {}, link(arc[end]))));
      if (known("strength")) line.append(strength(arc));
      if (known("contribution")) line.append(element("td", { class: "number" }, number(arc.contribution)));
      body.append(line);
    }
    table.append(body);
    return table;
  }

  // --- one variable ------------------------------------------------------------------------------------------------
  function article(i) {
    if (articles.has(i)) return articles.get(i);
    const v = variables[i];
    const out = element("article", { hidden: "" });
    out.append(element("header", {},
      element("h2", { tabindex: "-1" }, v.name),
      element("span", { class: `kind ${v.kind}` }, v.kind),
      element("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => select(null) }, "✕")));
    const into = arcs.filter((arc) => arc.child === i);
    const from = arcs.filter((arc) => arc.parent === i);
    const says = [v.model, v.score === null ? "" : `local score ${number(v.score, 7)}`].filter(Boolean).join(", ");
    out.append(element("h3", {}, "Model"));
    if (says) out.append(element("p", {}, says));
    if (v.tree) out.append(figure(v.tree));
    if (v.spline) out.append(figure(v.spline));
    if (v.text) {
      out.append(v.tree
        ? element("details", {}, element("summary", {}, "As text"), element("pre", { tabindex: "0" }, v.text))
        : element("pre", { tabindex: "0" }, v.text));
    }
    if (v.values) out.append(element("h3", {}, "Data"), figure(v.values));
    if (v.missing) out.append(element("p", { class: "hint" }, `${number(v.missing, 9)} missing`));
    if (into.length) out.append(element("h3", {}, "Depends on"), arcTable(element("table"), into, ["parent"]));
    if (from.length) out.append(element("h3", {}, "Others depend on it"), arcTable(element("table"), from, ["child"]));
    if (!into.length && !from.length) out.append(element("p", {}, "It has no arcs."));
    articles.set(i, out);
    byId("details").append(out);
    return out;
  }

  function select(i, reveal = false) {
    if (selected !== null) {
      articles.get(selected).hidden = true;
      nodes[selected].setAttribute("aria-pressed", "false");
    }
    selected = i;
    byId("nothing").hidden = i !== null;
    graph.classList.toggle("selecting", i !== null);
    for (const group of [...nodes, ...arcGroups]) group.classList.remove("near");
    if (i === null) return;
    article(i).hidden = false;
    byId("details").scrollTop = 0;
    nodes[i].setAttribute("aria-pressed", "true");
    nodes[i].classList.add("near");
    arcs.forEach((arc, k) => {
      if (arc.parent !== i && arc.child !== i) return;
      for (const group of [arcGroups[k], nodes[arc.parent], nodes[arc.child]]) group.classList.add("near");
    });
    rove(i);
    if (reveal) show(i);
  }

  // --- moving and zooming --------------------------------------------------------------------------------------------
  const whole = picture.getAttribute("viewBox").split(" ").map(Number);
  let view = [...whole];
  function look([x, y, width, height]) {
    const grow = Math.min(Math.max(width, whole[2] / 12), whole[2] * 2) / width;
    view = [x, y, width * grow, height * grow];
    picture.setAttribute("viewBox", view.map((n) => n.toFixed(2)).join(" "));
  }
  const toPicture = (x, y) => new DOMPoint(x, y).matrixTransform(picture.getScreenCTM().inverse());
  function zoom(factor, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) {
    const width = Math.min(Math.max(view[2] * factor, whole[2] / 12), whole[2] * 2);
    const real = width / view[2];
    look([x - (x - view[0]) * real, y - (y - view[1]) * real, view[2] * real, view[3] * real]);
  }
  // A small network does not start blown up, nor a large one too small to read: then its top is shown.
  function start() {
    const box = graph.getBoundingClientRect();
    const fit = Math.min(box.width / whole[2], box.height / whole[3]);
    const scale = Math.min(Math.max(fit, 0.7), 1.25);
    const [width, height] = [box.width / scale, box.height / scale];
    const top = scale > fit ? whole[1] : whole[1] + (whole[3] - height) / 2;
    if (scale !== fit) look([whole[0] + (whole[2] - width) / 2, top, width, height]);
  }
  function show(i) {
    const box = nodes[i].getBBox();
    const here = graph.getBoundingClientRect();
    const [a, b] = [toPicture(here.left, here.top), toPicture(here.right, here.bottom)];
    let [dx, dy] = [0, 0];
    if (box.x < a.x) dx = box.x - a.x - 20; else if (box.x + box.width > b.x) dx = box.x + box.width - b.x + 20;
    if (box.y < a.y) dy = box.y - a.y - 20; else if (box.y + box.height > b.y) dy = box.y + box.height - b.y + 20;
    if (dx || dy) look([view[0] + dx, view[1] + dy, view[2], view[3]]);
  }
  byId("in").addEventListener("click", () => zoom(0.8));
  byId("out").addEventListener("click", () => zoom(1.25));
  byId("fit").addEventListener("click", () => look(whole));
  graph.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = toPicture(event.clientX, event.clientY);
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), at.x, at.y);
  }, { passive: false });
  const fingers = new Map();
  let dragged = false;
  graph.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (fingers.size === 1) dragged = false;
  });
  window.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (!dragged && Math.hypot(now[0] - before[0], now[1] - before[1]) < 4) return;
    dragged = true;
    graph.classList.add("moving");
    const [a, b] = [toPicture(...before), toPicture(...now)];
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.max(10, Math.hypot(p[0] - other[0], p[1] - other[1]));
      const middle = toPicture((now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      zoom(apart(before) / apart(now), middle.x, middle.y);
    } else {
      look([view[0] + a.x - b.x, view[1] + a.y - b.y, view[2], view[3]]);
    }
    fingers.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      graph.classList.remove("moving");
    });
  }

  // --- the keyboard ------------------------------------------------------------------------------------------------
  // One variable at a time can be reached with Tab; arrow keys go to the nearest one in their direction.
  const centres = nodes.map((node) => {
    const box = node.getBBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  });
  function rove(i) {
    for (const node of nodes) node.setAttribute("tabindex", "-1");
    nodes[i].setAttribute("tabindex", "0");
  }
  function neighbour(i, [dx, dy]) {
    let [best, nearest] = [null, Infinity];
    centres.forEach(([x, y], k) => {
      const along = (x - centres[i][0]) * dx + (y - centres[i][1]) * dy;
      const aside = Math.abs((x - centres[i][0]) * dy) + Math.abs((y - centres[i][1]) * dx);
      const distance = along + (dx ? 6 : 1.5) * aside;
      if (along > 1 && distance < nearest) [best, nearest] = [k, distance];
    });
    return best;
  }
  const directions = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  nodes.forEach((node, i) => {
    node.setAttribute("role", "button");
    node.setAttribute("aria-pressed", "false");
    node.setAttribute("aria-label", node.querySelector("title").textContent);
    node.addEventListener("click", () => { if (!dragged) select(i); });
    node.addEventListener("focus", () => { rove(i); if (node.matches(":focus-visible")) show(i); });
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") select(i);
      else if (event.key in directions) nodes[neighbour(i, directions[event.key]) ?? i].focus();
      else if (event.key === "Home") nodes[0].focus();
      else if (event.key === "End") nodes[nodes.length - 1].focus();
      else return;
      event.preventDefault();
    });
  });
  picture.setAttribute("role", "group");
  if (nodes.length) rove(0);
  graph.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") look(whole);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || selected === null) return;
    const back = nodes[selected];
    const inside = byId("details").contains(document.activeElement);
    select(null);
    if (inside) back.focus();
  });

  // --- finding, tables, theme ----------------------------------------------------------------------------------------
  byId("names").append(...variables.map((v) => element("option", { value: v.name })));
  byId("find").addEventListener("input", (event) => {
    const wanted = event.target.value;
    const i = variables.findIndex((v) => v.name === wanted);
    if (i >= 0) select(i, true);
  });
  byId("find").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const wanted = event.target.value.trim().toLowerCase();
    const i = wanted ? variables.findIndex((v) => v.name.toLowerCase().includes(wanted)) : -1;
    if (i >= 0) select(i, true);
  });

  for (const [label, says] of data.facts) byId("facts").append(element("dt", {}, label), element("dd", {}, says));
  byId("facts").parentElement.querySelector("h2").hidden = !data.facts.length;
  const weight = (arc) => arc.strength ?? arc.contribution ?? 0;
  const ranked = [...arcs].sort((a, b) => weight(b) - weight(a));
  byId("arcs").hidden = !arcs.length;
  const [strong, costly] = ["strength", "contribution"].map((key) => arcs.some((arc) => arc[key] !== null));
  byId("widths").hidden = !strong;
  for (const key of document.querySelectorAll("#legend .kind")) key.hidden = !variables.some((v) => key.classList.contains(v.kind));
  byId("arc-hint").textContent = [
    strong ? "Strength is the share of resampled tables whose network has the arc." : "",
    costly ? "Score lost is how much the score falls when this arc alone is taken away." : "",
  ].join(" ").trim();
  arcTable(byId("arc-table"), ranked, ["parent", "child"]);

  const types = byId("type-table");
  const columns = ["Variable", "Type", "Levels", "Why"];
  const missing = variables.some((v) => v.missing !== null);
  types.append(element("thead", {}, element("tr", {},
    ...columns.map((label) => element("th", { scope: "col" }, label)),
    missing ? element("th", { scope: "col", class: "number" }, "Missing") : null)));
  const body = element("tbody");
  variables.forEach((v, i) => {
    const some = v.levels.length > 12 ? [...v.levels.slice(0, 10), `… (${v.levels.length} levels)`] : v.levels;
    body.append(element("tr", {},
      element("td", {}, link(i)),
      element("td", {}, element("span", { class: `kind ${v.kind}` }, v.kind)),
      element("td", {}, some.join(v.kind === "ordinal" ? " < " : ", ")),
      element("td", {}, v.reason),
      missing ? element("td", { class: "number" }, v.missing === null ? "" : number(v.missing, 9)) : null));
  });
  types.append(body);

  const themes = [["", "◐ Auto", "as the system"], ["light", "☀ Light", "light"], ["dark", "☾ Dark", "dark"]];
  let theme = 0;
  byId("theme").addEventListener("click", (event) => {
    theme = (theme + 1) % themes.length;
    const [name, label, says] = themes[theme];
    if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
    event.currentTarget.textContent = label;
    event.currentTarget.setAttribute("aria-label", `Colours: ${says}`);
  });

  // On paper every variable is shown, and the whole picture.
  let before = null;
  window.addEventListener("beforeprint", () => {
    byId("details").append(...variables.map((_, i) => article(i)));
    for (const fold of document.querySelectorAll("article details")) fold.open = true;
    before = view;
    look(whole);
  });
  window.addEventListener("afterprint", () => { if (before) look(before); });
  start();
})();
