"use strict";
// Everything a file could have put into the data becomes text, never markup: elements are built with textContent,
// pictures are parsed as SVG that the writer of this page escaped.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { variables, arcs } = data;
  const byId = (id) => document.getElementById(id);
  const main = document.querySelector("main");
  const graph = byId("graph");
  const LARGEST = 1.25, LEGIBLE = 0.85;  // pixels a unit; texts are 13 units high, so 11 pixels at the least
  const isNarrow = () => window.matchMedia("(max-width: 900px)").matches;
  const drawn = (source) => document.importNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement, true);
  const sizeOf = (svg) => svg.getAttribute("viewBox").split(" ").map(Number).slice(2);
  // On a narrow screen the network may be as long as it needs, with few variables beside one another.
  if (isNarrow() && data.hand) {
    const long = drawn(data.hand), wide = graph.querySelector("svg");
    if (sizeOf(long)[0] < sizeOf(wide)[0]) wide.replaceWith(long);
  }
  const picture = graph.querySelector("svg");
  picture.style.userSelect = "none";
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
  const link = (i) => element("button", { type: "button", class: "link", onclick: () => select(i) }, variables[i].name);

  function figure(source) {
    const parsed = drawn(source);
    parsed.style.width = "100%";
    parsed.style.maxWidth = `${LARGEST * parsed.getAttribute("width")}px`;
    return element("div", { class: "picture", tabindex: "0", role: "group", "aria-label": parsed.getAttribute("aria-label") }, parsed);
  }

  const KINDS = { continuous: "number", categorical: "categories", ordinal: "ordered levels" };
  const kindOf = (v) => element("span", { class: `kind ${v.kind}` }, KINDS[v.kind]);
  const WORDS = ["weak", "moderate", "strong", "decisive"];
  const FIGURES = [
    ["word", "Strength", "", (arc) => {
      if (!arc.word) return "";
      const pips = WORDS.map((_, k) => element("i", k <= WORDS.indexOf(arc.word) ? { class: "on" } : {}));
      return [element("span", { class: "pips", "aria-hidden": "true" }, ...pips), arc.word];
    }],
    ["strength", "In resampled networks", "", (arc) => {
      if (arc.strength === null) return "";
      const bar = element("i");
      bar.style.width = `${100 * Math.min(1, Math.max(0, arc.strength))}%`;
      return [element("span", { class: "bar", "aria-hidden": "true" }, bar), `${Math.round(100 * arc.strength)}%`];
    }],
    ["either", "Direction", "", (arc) => (arc.either ? "either way" : "one way")],
    ["contribution", "Log score falls by", "number", (arc) => number(arc.contribution)],
  ];

  const SAID = { strength: true, contribution: true };  // where rows are stacked, their labels are said

  function arcTable(table, shown, ends) {
    const heads = { parent: "From", child: "To" };
    const known = FIGURES.filter(([key]) => key === "either" || arcs.some((arc) => arc[key] !== null && arc[key] !== ""));
    table.append(element("thead", {}, element("tr", {},
      ...ends.map((end) => element("th", { scope: "col" }, heads[end])),
      ...known.map(([, label, kind]) => element("th", { scope: "col", class: kind }, label)))));
    table.append(element("tbody", {}, ...shown.map((arc) => element("tr", {},
      ...ends.map((end) => element("td", { class: "end" }, link(arc[end]))),
      ...known.map(([key, label, kind, says]) =>
        element("td", key in SAID ? { class: kind, "data-label": label } : { class: kind }, ...[says(arc)].flat()))))));
    table.classList.add("stacks");
    return table;
  }

  // --- a tree as an outline ------------------------------------------------------------------------------------------
  function condition(variable, label) {
    const name = element("span", { class: "name" }, variable);
    if (/^[<≥≤]/.test(label)) return [name, ` ${label}`];
    if (label.startsWith("!= ")) return [name, ` is not ${label.slice(3)}`];
    return /^(not )?in \{/.test(label) ? [name, ` ${label}`] : [name, `: ${label}`];
  }
  // What a chart shows stands in words beside it.
  function unspoken(source) {
    const out = drawn(source);
    for (const name of ["role", "aria-label"]) out.removeAttribute(name);
    out.setAttribute("aria-hidden", "true");
    return out;
  }
  const rowsOf = (node) => `${number(node.n, 9)} ${node.n === 1 ? "row" : "rows"}${node.share ? ` (${node.share})` : ""}`;
  const answer = (says) => says.replace(/: (?=[<\d]+%)/g, ":\u00a0");  // a level and its share stay in one line
  function branch(told, node) {
    const named = node.name ? [` [${node.name}]`] : [];
    const when = element("span", { class: "when" }, ...told, ...named);
    if ("again" in node) {
      when.append(` → as under [${node.again}]`);
      return element("li", {}, element("div", { class: "line" }, when));
    }
    if (!("ask" in node)) {
      const says = element("span", { class: "says" }, answer(node.says), element("small", {}, rowsOf(node)));
      if (node.formula) says.append(element("small", {}, node.formula));
      return element("li", {}, element("div", { class: "line leaf" }, when, element("span", { class: "chart" }, unspoken(node.chart)), says));
    }
    const turn = element("button", { type: "button", class: "turn" });
    const pool = node.chart ? [
      element("span", { class: "chart" }, unspoken(node.chart)),
      element("span", { class: "says" }, answer(node.says), element("small", {}, `${node.leaves} leaves, ${rowsOf(node)}`)),
    ] : [];
    when.prepend(turn);
    const out = element("li", {}, element("div", { class: "line inner" }, when, ...pool),
      element("ul", {}, ...node.to.map((each) => branch(condition(node.ask, each.label), each.to))));
    out.fold = (folded) => {
      out.classList.toggle("folded", folded);
      turn.setAttribute("aria-expanded", String(!folded));
      turn.setAttribute("aria-label", `${folded ? "Unfold" : "Fold"} ${node.leaves} leaves`);
      turn.textContent = folded ? "▸" : "▾";
    };
    turn.addEventListener("click", () => out.fold(!out.classList.contains("folded")));
    out.opens = Boolean(node.folded);
    out.fold(out.opens);
    return out;
  }
  function outline(v) {
    const { root, axis } = v.outline;
    const scale = element("div", { class: "line axis", "aria-hidden": "true" },
      element("span", { class: "when" }), element("span", { class: "chart" }, unspoken(axis)), element("span", { class: "says" }));
    const list = element("ul", {}, ...("ask" in root
      ? root.to.map((each) => branch(condition(root.ask, each.label), each.to))
      : [branch(["all rows"], root)]));
    const tree = element("div", { class: "tree" }, scale, list);
    const row = element("div", { class: "bar-row" });
    const folds = [...list.querySelectorAll("li")].filter((each) => each.fold);
    if (folds.some((each) => each.opens)) {
      const all = element("button", { type: "button", class: "unfold" }, "Unfold all");
      all.addEventListener("click", () => {
        const small = all.textContent !== "Unfold all";
        for (const each of folds) each.fold(small && each.opens);
        all.textContent = small ? "Unfold all" : "Fold small branches";
      });
      row.append(all);
    }
    if ("ask" in root) row.append(element("button", { type: "button", class: "enlarge", onclick: () => enlarge(v) }, "Enlarge"));
    return [row, tree];
  }
  function enlarge(v) {
    byId("large-title").textContent = v.name;
    byId("large-text").textContent = v.text;
    if (isNarrow()) {  // what is drawn from left to right is too wide for it
      const list = outline(v)[1];
      for (const each of list.querySelectorAll("li")) each.fold?.(false);
      byId("large-picture").replaceChildren(list);
      byId("large").showModal();
      return;
    }
    const tree = drawn(v.tree);
    tree.style.maxWidth = `${1.35 * tree.getAttribute("width")}px`;
    byId("large-picture").replaceChildren(tree);
    byId("large").showModal();
    // The first question is drawn last, in the middle of its answers.
    const root = [...tree.querySelectorAll(".an-split")].pop().getBoundingClientRect();
    const box = byId("large-picture").getBoundingClientRect();
    byId("large-picture").scrollTop += (root.top + root.bottom) / 2 - (box.top + box.bottom) / 2;
    byId("large-picture").scrollLeft = 0;
    byId("large-text").scrollTop = 0;
  }
  byId("large-close").addEventListener("click", () => byId("large").close());

  // --- one variable ------------------------------------------------------------------------------------------------
  function article(i) {
    if (articles.has(i)) return articles.get(i);
    const v = variables[i];
    const out = element("article", { hidden: "" });
    out.append(element("header", {},
      element("h2", { tabindex: "-1" }, v.name),
      kindOf(v),
      element("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => select(null) }, "✕")));
    const into = arcs.filter((arc) => arc.child === i);
    const from = arcs.filter((arc) => arc.parent === i);
    const [row, tree] = v.outline ? outline(v) : [element("div", { class: "bar-row" }), null];
    row.prepend(element("p", {}, v.model));
    out.append(element("h3", {}, into.length ? `Model: ${v.name} given ${into.map((arc) => variables[arc.parent].name).join(", ")}` : "Model"), row);
    if (tree) out.append(tree);
    if (v.spline) out.append(figure(v.spline));
    if (v.text && !tree) out.append(element("pre", { tabindex: "0" }, v.text));
    if (v.values) out.append(element("h3", {}, "Data"), figure(v.values));
    const held = [v.range, v.gaps || (v.missing ? `${number(v.missing, 9)} missing` : "")].filter(Boolean).join("; ");
    if (held) out.append(element("p", { class: "hint" }, held));
    if (into.length) out.append(element("h3", {}, "Depends on"), arcTable(element("table"), into, ["parent"]));
    if (from.length) out.append(element("h3", {}, "Others depend on it"), arcTable(element("table"), from, ["child"]));
    if (!into.length && !from.length) out.append(element("p", {}, "It has no arcs."));
    if (v.score !== null) {
      out.append(element("details", {}, element("summary", {}, "Technical details"), element("p", {}, `local score ${number(v.score, 7)}`)));
    }
    out.append(element("button", { type: "button", class: "touch back", onclick: () => byId("network").scrollIntoView() }, "↑ Back to the network"));
    articles.set(i, out);
    byId("details").append(out);
    return out;
  }

  function select(i) {
    if (selected !== null) {
      articles.get(selected).hidden = true;
      nodes[selected].setAttribute("aria-pressed", "false");
    }
    selected = i;
    byId("nothing").hidden = i !== null;
    graph.classList.toggle("selecting", i !== null);
    for (const group of [...nodes, ...arcGroups]) group.classList.remove("near");
    main.classList.toggle("reading", i !== null);
    if (i === null) {
      if (!isNarrow()) start();
      return;
    }
    article(i).hidden = false;
    byId("details").scrollTop = 0;
    nodes[i].setAttribute("aria-pressed", "true");
    nodes[i].classList.add("near");
    arcs.forEach((arc, k) => {
      if (arc.parent !== i && arc.child !== i) return;
      for (const group of [arcGroups[k], nodes[arc.parent], nodes[arc.child]]) group.classList.add("near");
    });
    rove(i);
    focus();
    if (isNarrow()) byId("details").scrollIntoView({ block: "start" });
    else byId("network").scrollIntoView({ block: "nearest" });
  }

  // --- moving and zooming --------------------------------------------------------------------------------------------
  const whole = picture.getAttribute("viewBox").split(" ").map(Number);
  let view = [...whole];
  function look(wanted) {
    view = wanted;
    picture.setAttribute("viewBox", view.map((n) => n.toFixed(2)).join(" "));
  }
  const toPicture = (x, y) => new DOMPoint(x, y).matrixTransform(picture.getScreenCTM().inverse());
  function zoom(factor, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) {
    const now = graph.getBoundingClientRect().width / view[2];
    const then = Math.min(Math.max(now / factor, wholeScale() / 2), 5);
    const real = now / then;
    look([x - (x - view[0]) * real, y - (y - view[1]) * real, view[2] * real, view[3] * real]);
  }
  // The whole network, as large as the panel permits, but not blown up.
  function wholeScale() {
    const box = graph.getBoundingClientRect();
    return Math.min(LARGEST, box.width / whole[2], box.height / whole[3]);
  }
  function frame(scale, x, y) {
    const box = graph.getBoundingClientRect();
    if (!(scale > 0 && Number.isFinite(scale))) return;  // nothing to look at while the page is not laid out
    look([x - box.width / scale / 2, y - box.height / scale / 2, box.width / scale, box.height / scale]);
  }
  // On a narrow screen the panel is as long as the network; what would be too small to read is wider than the screen
  // instead, and opens at its first variables.
  function atHand(scale) {
    graph.style.height = `${Math.round(whole[3] * scale + 8)}px`;
    const box = graph.getBoundingClientRect();
    const first = nodes.map((node) => node.getBBox()).sort((a, b) => a.y - b.y)[0] ?? { x: whole[2] / 2, width: 0 };
    const half = box.width / scale / 2;
    const middle = whole[2] <= 2 * half ? whole[2] / 2 : Math.min(Math.max(first.x + first.width / 2, half), whole[2] - half);
    frame(scale, middle, whole[3] / 2);
    const beyond = whole[2] * scale > box.width + 1;
    main.classList.toggle("beyond", beyond);
    const [label, says] = scale < LEGIBLE ? ["Larger", "Show the network large enough to read"] : ["Whole", "Show the whole network"];
    byId("fit").textContent = label;
    byId("fit").setAttribute("aria-label", says);
  }
  const narrowScale = () => Math.min(LARGEST, graph.getBoundingClientRect().width / whole[2]);
  function start() {
    if (isNarrow()) {
      atHand(Math.max(narrowScale(), LEGIBLE));
      return;
    }
    // The panel is no higher than the network needs, and no higher than the window.
    const width = graph.getBoundingClientRect().width;
    const wanted = whole[3] * Math.min(LARGEST, width / whole[2]) + 8;
    const rest = byId("network").getBoundingClientRect().height - graph.getBoundingClientRect().height;
    const most = Math.max(320, window.innerHeight - rest - byId("network").getBoundingClientRect().top - window.scrollY - 16);
    graph.style.height = main.classList.contains("reading") ? "" : `${Math.round(Math.min(wanted, most))}px`;
    frame(wholeScale(), whole[2] / 2, whole[3] / 2);
  }
  // Beside a text there is less room: the whole network if it is legible there, else what is around the variable.
  function focus() {
    if (isNarrow()) {
      show(selected);
      return;
    }
    graph.style.height = "";
    const scale = wholeScale();
    if (scale >= LEGIBLE) {
      frame(scale, whole[2] / 2, whole[3] / 2);
      return;
    }
    const box = graph.getBoundingClientRect();
    const boxes = nodes.filter((node) => node.classList.contains("near")).map((node) => node.getBBox());
    const [left, top] = ["x", "y"].map((key) => Math.min(...boxes.map((each) => each[key])));
    const right = Math.max(...boxes.map((each) => each.x + each.width));
    const bottom = Math.max(...boxes.map((each) => each.y + each.height));
    const near = Math.min(box.width / (right - left + 24), box.height / (bottom - top + 24));
    if (near >= LEGIBLE) frame(Math.min(near, 1), (left + right) / 2, (top + bottom) / 2);
    else {
      const own = nodes[selected].getBBox();
      frame(LEGIBLE, own.x + own.width / 2, own.y + own.height / 2);
    }
  }
  // A swipe ends at the edges of what is wider than the screen.
  function sideways(x) {
    return isNarrow() && view[2] < whole[2] ? Math.min(Math.max(x, whole[0]), whole[0] + whole[2] - view[2]) : x;
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
  function fit() {
    if (!isNarrow()) frame(wholeScale(), whole[2] / 2, whole[3] / 2);
    else if (byId("fit").textContent === "Whole") atHand(narrowScale());
    else start();
  }
  byId("fit").addEventListener("click", fit);
  let wide = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === wide) return;  // bars of a telephone come and go
    wide = window.innerWidth;
    if (selected === null) start(); else focus();
  });
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
      look([sideways(view[0] + a.x - b.x), view[1] + a.y - b.y, view[2], view[3]]);
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
    else if (event.key === "0") fit();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || selected === null || byId("large").open) return;
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
    if (i >= 0) select(i);
  });
  byId("find").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const wanted = event.target.value.trim().toLowerCase();
    const i = wanted ? variables.findIndex((v) => v.name.toLowerCase().includes(wanted)) : -1;
    if (i >= 0) select(i);
  });

  for (const [label, says] of data.facts) byId("facts").append(element("dt", {}, label), element("dd", {}, says));
  for (const [label, says] of data.technical) byId("technical-facts").append(element("dt", {}, label), element("dd", {}, says));
  byId("technical").hidden = !data.technical.length;
  byId("advice").textContent = data.advice;
  byId("advice").hidden = !data.advice;
  // Code is for those who made the table, not for all who read the page.
  const mends = data.findings.filter(([, mend]) => mend);
  for (const [says] of data.findings) byId("findings").insertBefore(element("p", {}, `${says}.`), byId("mends"));
  for (const [, mend] of mends) byId("mends").append(element("p", {}, element("code", {}, mend)));
  byId("mends").hidden = !mends.length;
  byId("findings").hidden = !data.findings.length;
  byId("scale").hidden = !data.scale || !arcs.length;
  byId("scale").querySelector("p").textContent = data.scale;
  byId("either").hidden = !arcs.some((arc) => arc.either);
  byId("causes").hidden = !arcs.length;
  byId("facts").parentElement.querySelector("h2").hidden = !data.facts.length;
  const weight = (arc) => arc.contribution ?? arc.strength ?? 0;
  const ranked = [...arcs].sort((a, b) => weight(b) - weight(a));
  byId("arcs").hidden = !arcs.length;
  const [strong, costly] = ["strength", "contribution"].map((key) => arcs.some((arc) => arc[key] !== null));
  byId("widths").hidden = !strong;
  for (const key of document.querySelectorAll("#legend .kind")) key.hidden = !variables.some((v) => key.classList.contains(v.kind));
  byId("arc-hint").textContent = [
    costly ? "Strength says how much the data speak for the arc: by how much the log score falls if only this arc is removed." : "",
    strong ? "Beside it, the share of networks learned from resampled rows that have the arc." : "",
  ].join(" ").trim();
  arcTable(byId("arc-table"), ranked, ["parent", "child"]);

  const types = byId("type-table");
  const columns = ["Variable", "Type", "Levels or range", "Why"];
  const missing = variables.some((v) => v.missing !== null);
  types.append(element("thead", {}, element("tr", {},
    ...columns.map((label) => element("th", { scope: "col" }, label)),
    missing ? element("th", { scope: "col", class: "number" }, "Missing") : null)));
  const body = element("tbody");
  variables.forEach((v, i) => {
    const some = v.levels.length > 12 ? [...v.levels.slice(0, 10), `… (${v.levels.length} levels)`] : v.levels;
    body.append(element("tr", {},
      element("td", { class: "end" }, link(i)),
      element("td", {}, kindOf(v)),
      element("td", {}, v.range || some.join(v.kind === "ordinal" ? " < " : ", ")),
      element("td", {}, v.reason),
      missing ? element("td", { class: "number", "data-label": "Missing" }, v.missing === null ? "" : number(v.missing, 9)) : null));
  });
  types.append(body);
  types.classList.add("stacks");

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
