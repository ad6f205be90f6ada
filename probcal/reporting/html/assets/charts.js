"use strict";
// The charts, drawn by Observable Plot; every one redraws itself when something else is chosen.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const shapes = [d3.symbolCircle, d3.symbolSquare2, d3.symbolTriangle2, d3.symbolDiamond2, d3.symbolStar, d3.symbolCross, d3.symbolWye];
  const html = (tag, attributes = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...inside);
    return element;
  };
  const printed = (number) => number === null ? "∞" : typeof number === "string" ? number
    : Math.abs(number) >= 1000 ? number.toFixed(1) : number.toFixed(3);

  // A group of columns shares a colour and differs in its symbols; one group alone differs in colours first.
  const looks = (columns) => {
    const groups = [...new Set(columns.map((one) => one.group))], within = {};
    return columns.map((one, index) => {
      const place = within[one.group] = (within[one.group] ?? -1) + 1, group = groups.indexOf(one.group);
      const [colour, shape] = groups.length > 1 ? [group % 7, place + Math.floor(group / 7)] : [index % 7, Math.floor(index / 7)];
      return { label: one.label, colour: `var(--c${colour})`, shape: shapes[shape % 7] };
    });
  };

  // --- what every chart has: choices above, a picture, a line that reads the point pointed at ---
  const select = (name, options, changed) => {
    const box = html("select", {}, ...options.map((text, value) => html("option", { value, textContent: text })));
    box.addEventListener("change", changed);
    return { label: html("label", {}, name, box), get value() { return Number(box.value); }, set value(to) { box.value = to; } };
  };
  const mark = (shape, colour) => {
    const svg = d3.create("svg").attr("viewBox", "-7 -7 14 14").attr("aria-hidden", "true");
    svg.append("path").attr("d", d3.symbol(shape, 70)()).style("fill", colour);
    return svg.node();
  };
  const toggles = (looks, shown, changed) => {
    const boxes = looks.map((look, index) => {
      const box = html("input", { type: "checkbox", checked: shown(index) });
      box.addEventListener("change", changed);
      return [box, html("label", {}, box, mark(look.shape, look.colour), look.label)];
    });
    const every = (name, to) => {
      const button = html("button", { type: "button", className: "quiet", textContent: name });
      button.addEventListener("click", () => { boxes.forEach(([box]) => { box.checked = to; }); changed(); });
      return button;
    };
    return { element: html("fieldset", {}, html("legend", { textContent: "Columns" }), ...boxes.map(([, label]) => label),
                           ...(boxes.length > 3 ? [every("All", true), every("None", false)] : [])),
             shown: (index) => boxes[index][0].checked };
  };
  const frame = (figure, controls, columns, plotted) => {
    const picture = html("div", { className: "plot", tabIndex: 0 }), readout = html("p", { className: "readout" });
    const missing = html("p", { className: "missing soft" });
    picture.setAttribute("role", "group");
    readout.setAttribute("aria-live", "polite");
    figure.append(html("div", { className: "controls" }, ...controls.map((one) => one.label)), ...columns, picture, missing, readout);
    let at = -1, width = 0;
    const draw = () => {
      const { plot, name, without = [] } = plotted(Math.max(Math.min(picture.clientWidth || 640, 960), 280));
      at = -1;
      readout.textContent = "Point at a mark, or go from one to the next with the arrow keys, to read its numbers.";
      picture.setAttribute("aria-label", `${name}. Arrow keys go from point to point.`);
      for (const part of plot.querySelectorAll("g[aria-label]")) {  // names that no reader may be told: a g has no role
        part.removeAttribute("aria-label");
      }
      picture.replaceChildren(plot);
      missing.textContent = without.length ? `Not drawn, since they are ∞ or have no number: ${without.join("; ")}.` : "";
      plot.addEventListener("input", () => { if (plot.value) readout.textContent = plot.value.told.replaceAll("\n", "; "); });
    };
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const svg = picture.querySelector("svg"), marks = [...picture.querySelectorAll("g.points > *")];
      if (!step || !marks.length) return;
      event.preventDefault();
      at = at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length;
      const box = marks[at].getBoundingClientRect();
      const where = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, pointerType: "mouse", bubbles: true };
      svg.dispatchEvent(new PointerEvent("pointerenter", where));
      svg.dispatchEvent(new PointerEvent("pointermove", where));
    });
    new ResizeObserver(() => { if (Math.abs(picture.clientWidth - width) > 8) { width = picture.clientWidth; draw(); } }).observe(picture);
    draw();
    return draw;
  };
  const tip = { fontSize: 13, lineHeight: 1.3, pathFilter: null };

  // --- numbers ----------------------------------------------------------------------------------
  const points = (of) => of.numbers.map(([m, d, c, mean, sd, n, infinite, published, agrees, interval]) => {
    const metric = of.metrics[m], column = of.columns[c].label;
    const ends = interval ?? (sd === null ? null : [mean - sd, mean + sd]);
    const spread = interval ? `, 95 % interval ${interval.map(printed).join(" to ")},` : sd === null ? "" : ` ± ${printed(sd)}`, splits = n > 1 ? ` over ${n} splits` : "";
    const some = infinite ? `, ∞ on ${infinite} of ${n}` : "";
    const theirs = published === null ? "" : `\npublished ${printed(published)}`
      + (agrees === null ? "" : agrees ? ", in band" : ", out of band");
    return { m, d, c, n, mean, sd, ends, published, agrees, column, dataset: of.datasets[d],
             told: `${of.datasets[d]}, ${column}\n${metric.short} ${n ? printed(mean) + spread + splits + some : "not run"}${theirs}` };
  });

  const compare = (figure, of) => {
    const every = points(of), look = looks(of.columns), redraw = () => draw();
    const metric = select("Metric", of.metrics.map((one) => one.name), redraw);
    const dataset = select("Data set", ["All data sets", ...of.datasets], redraw);
    const columns = toggles(look, () => true, redraw);
    if (of.datasets.length === 1) { dataset.value = 1; dataset.label.hidden = true; }
    const draw = frame(figure, [metric, dataset], [columns.element], (width) => {
      const m = metric.value, only = dataset.value - 1, named = of.metrics[m];
      const here = every.filter((one) => one.m === m && columns.shown(one.c) && (only < 0 || one.d === only));
      const finite = here.filter((one) => one.mean !== null);
      const unseen = here.filter((one) => one.mean === null && one.n), row = only < 0 ? "dataset" : "column";
      const printedToo = only < 0 ? [] : here.filter((one) => typeof one.published === "number");
      const rows = only < 0 ? of.datasets.filter((_, d) => finite.some((one) => one.d === d))
        : of.columns.filter((_, c) => here.some((one) => one.c === c)).map((one) => one.label);
      const left = Math.min(Math.max(...rows.map((one) => one.length), 4) * 7.2 + 16, width * 0.36);
      return {
        name: `${named.name}${only < 0 ? "" : ` on ${of.datasets[only]}`}, ${finite.length} means`,
        without: of.columns.flatMap(({ label }, c) => {
          const sets = unseen.filter((one) => one.c === c).map((one) => one.dataset);
          const these = sets.length > 4 ? `${sets.length} data sets` : sets.join(", ");
          return sets.length ? [only < 0 ? `${label} on ${these}` : label] : [];
        }),
        plot: Plot.plot({
          width, marginLeft: left, marginTop: 46, height: 80 + rows.length * (only < 0 ? 34 : 28), style: { fontSize: "13px", background: "none" },
          x: { label: `${named.name} (${named.end})`, labelAnchor: "left", labelArrow: false, axis: "top", grid: true, nice: true, labelOffset: 42 },
          y: { domain: [...new Set(rows)], label: null, type: "band", tickSize: 0, tickFormat: (text) => text.length * 7.2 + 12 > left ? `${text.slice(0, Math.max(left / 7.8 - 3, 3))}…` : text },
          color: { type: "categorical", domain: d3.range(look.length), range: look.map((one) => one.colour) },
          symbol: { type: "ordinal", domain: d3.range(look.length), range: look.map((one) => one.shape) },
          marks: [
            Plot.ruleY(rows.map((text) => ({ text })), { y: "text", stroke: "currentColor", strokeOpacity: 0.12 }),
            only < 0 ? null : Plot.ruleY(finite.filter((one) => one.ends),
              { y: row, x1: (one) => one.ends[0], x2: (one) => one.ends[1], stroke: "c", strokeWidth: 2 }),
            Plot.dot(printedToo, { x: "published", y: row, symbol: "diamond", r: 6.5, stroke: "currentColor", strokeWidth: 1.5 }),
            Plot.dot(finite, { x: "mean", y: row, fill: "c", symbol: "c", r: 4.5, className: "points", title: "told", tip }),
          ],
        }),
      };
    });
  };

  const beside = (figure, of) => {
    const both = points(of).filter((one) => one.mean !== null && typeof one.published === "number");
    const there = of.metrics.map((one, m) => ({ ...one, m })).filter(({ m }) => both.some((one) => one.m === m));
    const metric = select("Metric", there.map((one) => one.name), () => draw());
    const key = html("p", { className: "key" }, mark(d3.symbolCircle, "var(--c0)"), "in its band", mark(d3.symbolTriangle2, "var(--c1)"),
      "out of its band", mark(d3.symbolSquare2, "var(--soft)"), "not compared");
    const draw = frame(figure, [metric], [key], (width) => {
      const named = there[metric.value], here = both.filter((one) => one.m === named.m), side = Math.min(width, 560);
      const told = ["in band", "out of band", "not compared"];
      const kind = (one) => one.agrees === null ? told[2] : one.agrees ? told[0] : told[1];
      const ends = d3.extent(here.flatMap((one) => [one.mean, one.published]));
      return {
        name: `${named.name}, ours against published, ${here.length} points`,
        plot: Plot.plot({
          width: side, height: side, inset: 10, marginLeft: 52, marginTop: 28, marginBottom: 42, style: { fontSize: "13px", background: "none" },
          x: { domain: ends, label: `${named.short}, published`, grid: true, nice: true, labelArrow: false },
          y: { domain: ends, label: `${named.short}, ours`, grid: true, nice: true, labelArrow: false },
          color: { domain: told, range: ["var(--c0)", "var(--c1)", "var(--soft)"] },
          symbol: { domain: told, range: [d3.symbolCircle, d3.symbolTriangle2, d3.symbolSquare2] },
          marks: [
            Plot.line([[ends[0], ends[0]], [ends[1], ends[1]]], { stroke: "currentColor", strokeOpacity: 0.5, strokeDasharray: "4 4" }),
            Plot.ruleX(here.filter((one) => one.sd !== null),
              { x: "published", y1: (one) => one.mean - one.sd, y2: (one) => one.mean + one.sd, stroke: kind, strokeOpacity: 0.35, clip: true }),
            Plot.dot(here, { x: "published", y: "mean", fill: kind, symbol: kind, r: 4, className: "points", title: "told", tip }),
          ],
        }),
      };
    });
  };

  const reliability = (figure, of) => {
    const look = looks(of.columns.map(({ label }) => ({ label, group: "" })));  // bands of one colour would be one
    const redraw = () => draw(), lines = of.reliability;
    const sets = [...new Set(lines.map(([d]) => d))].sort((a, b) => a - b), there = [...new Set(lines.map(([, c]) => c))].sort((a, b) => a - b);
    const dataset = select("Data set", sets.map((d) => of.datasets[d]), redraw);
    const group = of.columns[there[0]].group;
    const columns = toggles(there.map((c) => look[c]), (place) => place < 4 && (of.columns[there[place]].group === group || place < 2), redraw);
    const table = html("table", { className: "simple" }), folded = html("details", {}, html("summary", { textContent: "The bins as a table" }),
      html("div", { className: "scroll", tabIndex: 0 }, table));
    folded.lastChild.setAttribute("role", "region");
    folded.lastChild.setAttribute("aria-label", "The bins as a table");
    const draw = frame(figure, [dataset], [columns.element], (width) => {
      const d = sets[dataset.value], side = Math.min(width, 560);
      const shown = lines.filter(([set, c]) => set === d && columns.shown(there.indexOf(c)));
      const bins = shown.flatMap(([, c, , bins]) => bins.map(([mean, observed, low, high, n]) => ({ c, mean, observed, low, high, n,
        told: `${of.columns[c].label}\nmean prediction ${mean.toFixed(3)}\nobserved frequency ${observed.toFixed(3)}, 95 % from ${low.toFixed(3)} to ${high.toFixed(3)}\n${n} rows` })));
      const cells = (kind, texts) => html("tr", {}, ...texts.map((text, place) => html(kind, { textContent: text, ...(kind === "th" ? { scope: "col" } : place ? { className: "number" } : {}) })));
      table.replaceChildren(html("thead", {}, cells("th", ["Column", "Mean prediction", "Observed frequency", "95 % from", "to", "Rows"])),
        html("tbody", {}, ...bins.map((one) => cells("td", [of.columns[one.c].label, ...[one.mean, one.observed, one.low, one.high].map((x) => x.toFixed(3)), one.n]))));
      return {
        name: `Reliability on ${of.datasets[d]}: ${shown.map(([, c]) => of.columns[c].label).join(", ") || "no column chosen"}`,
        plot: Plot.plot({
          width: side, height: side, marginLeft: 52, marginTop: 28, marginBottom: 42, style: { fontSize: "13px", background: "none" },
          x: { domain: [0, 1], label: "Mean predicted probability", grid: true, labelArrow: false },
          y: { domain: [0, 1], label: "Observed frequency", grid: true, labelArrow: false },
          color: { type: "categorical", domain: d3.range(look.length), range: look.map((one) => one.colour) },
          symbol: { type: "ordinal", domain: d3.range(look.length), range: look.map((one) => one.shape) },
          marks: [
            Plot.line([[0, 0], [1, 1]], { stroke: "currentColor", strokeOpacity: 0.5, strokeDasharray: "4 4" }),
            Plot.areaY(bins, { x: "mean", y1: "low", y2: "high", z: "c", fill: "c", fillOpacity: 0.16 }),
            Plot.ruleX(bins, { x: "mean", y1: "low", y2: "high", stroke: "c", strokeOpacity: 0.5 }),
            Plot.line(bins, { x: "mean", y: "observed", z: "c", stroke: "c", strokeWidth: 1.6 }),
            Plot.dot(bins, { x: "mean", y: "observed", fill: "c", symbol: "c", r: 4.5, className: "points", title: "told", tip }),
          ],
        }),
      };
    });
    figure.append(folded);
  };

  const kinds = { compare, beside, reliability };
  for (const figure of document.querySelectorAll("figure.chart")) kinds[figure.dataset.chart](figure, data[figure.dataset.of]);
})();
