// The charts: plain SVG, drawn anew when the page changes its width.

const kOutcomes = {
  baseline: "reference", improved: "new best", not_better: "not better", guarded: "guarded", duplicate: "duplicate",
  compile_failed: "does not compile", wrong: "wrong", failed: "fault", quarantined: "quarantined", unproven: "unproven",
  no_proposal: "nothing proposed", infrastructure: "machine trouble", under_way: "under way",
};
const outcomeOf = (step) => step.outcome || "under_way";
const isFault = (outcome) => ["compile_failed", "wrong", "failed", "quarantined", "unproven", "infrastructure"].includes(outcome);

// One sign an outcome, so that colour is never alone: filled, ring, diamond, cross.
function glyph(outcome, x, y, r = 4, attributes = {}) {
  const all = { class: "glyph o-" + outcome, ...attributes };
  if (isFault(outcome))
    return svg("path", { ...all, class: all.class + " cross", d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}` });
  if (outcome === "improved" || outcome === "baseline") return svg("circle", { ...all, cx: x, cy: y, r: r + 1 });
  if (outcome === "guarded") return svg("path", { ...all, d: `M${x} ${y - r - 1}L${x + r + 1} ${y}L${x} ${y + r + 1}L${x - r - 1} ${y}Z` });
  if (outcome === "duplicate" || outcome === "no_proposal" || outcome === "under_way")
    return svg("circle", { ...all, class: all.class + " ring", cx: x, cy: y, r: r - 0.5 });
  return svg("circle", { ...all, cx: x, cy: y, r: r - 0.5 });
}
const sign = (outcome) => svg("svg", { class: "sign", width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, glyph(outcome, 7, 7));

const logScale = (low, high, from, to) => {
  const a = Math.log(low);
  const span = Math.log(high) - a || 1;
  const scale = (value) => from + ((Math.log(value) - a) / span) * (to - from);
  scale.low = low;
  scale.high = high;
  return scale;
};
const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
const greatest = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
const linearScale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

function logTicks(low, high, most) {
  for (const steps of [[1, 2, 3, 5], [1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e)
      for (const s of steps) {
        const value = s * 10 ** e;
        if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
      }
    if (ticks.length <= most && ticks.length > 0) return ticks;
    if (steps.length === 1 && ticks.length > 0) return ticks.filter((_, i) => i % Math.ceil(ticks.length / most) === 0);
  }
  return [low, high];
}
function linearTicks(high, most) {
  const raw = Math.max(high, 1) / most;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((s) => s * size).find((s) => s >= raw));
  const ticks = [];
  for (let value = 0; value <= high + 1e-9; value += step) ticks.push(value);
  return ticks;
}

// A labelled line along the whole plot.
const rule = (name, x1, x2, y, text, below) => [
  svg("line", { class: "rule " + name, x1, x2, y1: y, y2: y }),
  svg("text", { class: "label " + name, x: x2 - 4, y: below ? y + 13 : y - 5, "text-anchor": "end" }, text),
];

// --- the best over evaluations

const kDense = 600; // steps; from there on dots are small and let others through

function progressChart(page, width) {
  const height = width < 500 ? 260 : 310;
  const untimed = page.steps.some((s) => s.outcome && !isNumber(s.ns));
  const box = { left: 66, right: width - 12, top: 14, bottom: height - (untimed ? 66 : 44) };
  const timed = page.steps.filter((s) => isNumber(s.ns));
  const extra = [page.work.roofline_ns, page.result && page.result.target_ns].filter(isNumber);
  const all = [...timed.map((s) => s.ns), ...page.bests.map((b) => b.ns).filter(isNumber), ...extra];
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Time of the best and of every candidate over evaluations" });
  if (all.length === 0) return [root, []];
  const total = Math.max(1, page.cost.evaluations);
  const x = linearScale(0, total, box.left + 8, box.right - 8);
  const y = logScale(least(all) / 1.25, greatest(all) * 1.25, box.bottom, box.top);
  const strip = box.bottom + (untimed ? 16 : -6);
  for (const value of logTicks(y.low, y.high, 7))
    append(root, [svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      svg("text", { class: "tick", x: box.left - 8, y: y(value) + 4, "text-anchor": "end" }, tickText(value))]);
  for (const value of linearTicks(total, width < 500 ? 5 : 9))
    append(root, [svg("line", { class: "grid", x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      svg("text", { class: "tick", x: x(value), y: strip + 22, "text-anchor": "middle" }, count(value))]);
  append(root, [
    svg("text", { class: "axis", x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" }, "evaluations (kernel instances timed)"),
    untimed && svg("text", { class: "tick", x: box.left - 8, y: strip + 4, "text-anchor": "end" }, "no time"),
    untimed && svg("rect", { class: "strip", x: box.left, y: strip - 9, width: box.right - box.left, height: 18 }),
  ]);
  for (const restart of page.run.restarts) {
    const step = page.steps.find((s) => s.step >= restart.step && s.outcome);
    if (step) append(root, [svg("line", { class: "restart", x1: x(step.spent), x2: x(step.spent), y1: box.top, y2: box.bottom }),
      svg("text", { class: "label", x: x(step.spent) + 4, y: box.top + 10 }, "restart")]);
  }
  const marks = [];
  const dense = page.steps.length > kDense;
  const others = svg("g", { class: dense ? "dense" : null });
  const gains = svg("g", {});
  for (const step of page.steps) {
    const outcome = outcomeOf(step);
    if (outcome === "under_way") continue;
    const px = x(step.spent);
    const py = isNumber(step.ns) ? y(step.ns) : strip;
    const gain = outcome === "improved" || outcome === "baseline";
    marks.push({ x: px, y: py, step: step.step });
    (gain ? gains : others).append(glyph(outcome, px, py, dense && !gain ? 3 : 4, { "data-step": step.step }));
  }
  const bests = page.bests.filter((b) => isNumber(b.ns));
  let line = "";
  bests.forEach((b, i) => { line += i === 0 ? `M${x(b.spent)} ${y(b.ns)}` : `H${x(b.spent).toFixed(1)}V${y(b.ns).toFixed(1)}`; });
  if (bests.length > 0) line += `H${x(total)}`;
  append(root, [others, svg("path", { class: "best-line", d: line }), gains]);
  if (isNumber(page.work.roofline_ns)) append(root, rule("roof", box.left, box.right, y(page.work.roofline_ns), (page.work.estimated ? "estimated roofline " : "roofline ") + timeText(page.work.roofline_ns), true));
  if (page.result && isNumber(page.result.target_ns)) append(root, rule("target", box.left, box.right, y(page.result.target_ns), "target " + timeText(page.result.target_ns)));
  return [root, marks];
}

// --- what held each best back

const kLeastCell = 16;
function spread(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))]);
}

function bottleneckChart(page, width) {
  const left = width < 500 ? 134 : 168;
  const most = Math.max(2, Math.floor((width - left - 8) / kLeastCell));
  const bests = spread(page.bests, most);
  const tags = [];
  for (const best of page.bests) for (const [tag] of best.tags) if (!tags.includes(tag)) tags.push(tag);
  const cell = Math.min(76, (width - left - 8) / Math.max(1, bests.length));
  const row = 26;
  const height = tags.length * row + 46;
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Bottlenecks of each new best" });
  tags.forEach((tag, r) => append(root, [
    svg("text", { class: "tick", x: left - 10, y: r * row + row / 2 + 4, "text-anchor": "end" }, words(tag)),
    svg("line", { class: "grid", x1: left, x2: left + cell * bests.length, y1: (r + 1) * row, y2: (r + 1) * row })]));
  const marks = [];
  bests.forEach((best, c) => {
    const px = left + c * cell;
    const column = svg("g", { "data-step": best.step });
    column.append(svg("rect", { class: "hit", x: px, y: 0, width: cell, height: tags.length * row }));
    for (const [tag, severity] of best.tags) {
      const py = tags.indexOf(tag) * row;
      append(column, [
        svg("rect", { class: tag === "near_roofline" ? "heat near" : "heat", x: px + 1, y: py + 2, width: Math.max(2, cell - 2), height: row - 4, rx: 3, "fill-opacity": (0.12 + 0.88 * severity).toFixed(3) }),
        cell >= 36 && svg("text", { class: severity > 0.55 ? "cell strong" : "cell", x: px + cell / 2, y: py + row / 2 + 4, "text-anchor": "middle" }, percent(severity))]);
    }
    // The last one always has its number; those it would touch have none.
    const every = Math.ceil(40 / cell);
    const end = bests.length - 1;
    if (c === end || (c % every === 0 && end - c >= every))
      column.append(svg("text", { class: "tick", x: px + cell / 2, y: tags.length * row + 16, "text-anchor": "middle" }, "#" + best.step));
    marks.push({ step: best.step, best });
    root.append(column);
  });
  root.append(svg("text", { class: "axis", x: width < 500 ? 4 : left, y: height - 6 }, "new bests, by step; severity: share of the time at stake"));
  return [root, marks, bests.length];
}

// --- where the bests stand under the roofs

function rooflineChart(page, shape, width) {
  const height = 290;
  const box = { left: 84, right: width - 14, top: 14, bottom: height - 48 };
  const { dram_rate: dram, peak_rate: peak } = page.work;
  const intensity = shape.flops / shape.bytes;
  const ridge = peak / dram;
  const path = page.bests.filter((b) => isNumber(b.shapes[shape.shape])).map((b) => ({ step: b.step, rate: shape.flops / (b.shapes[shape.shape] * 1e-9), ns: b.shapes[shape.shape] }));
  const x = logScale(Math.min(intensity, ridge) / 6, Math.max(intensity, ridge) * 6, box.left, box.right);
  const y = logScale(Math.min(least(path.map((p) => p.rate)), x.low * dram) / 1.5, peak * 2.2, box.bottom, box.top);
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Roofline with the path of bests" });
  for (const value of logTicks(x.low, x.high, 5))
    append(root, [svg("line", { class: "grid", x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      svg("text", { class: "tick", x: x(value), y: box.bottom + 16, "text-anchor": "middle" }, figures(value, 1))]);
  for (const value of logTicks(y.low, y.high, 6))
    append(root, [svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      svg("text", { class: "tick", x: box.left - 8, y: y(value) + 4, "text-anchor": "end" }, prefixed(value, "FLOP/s", 1))]);
  append(root, [
    svg("path", { class: "roof-line", d: `M${x(x.low)} ${y(x.low * dram)}L${x(ridge)} ${y(peak)}H${box.right}` }),
    svg("line", { class: "rule roof", x1: x(intensity), x2: x(intensity), y1: y(Math.min(peak, intensity * dram)), y2: box.bottom }),
    svg("text", { class: "label roof", x: box.right - 2, y: y(peak) - 6, "text-anchor": "end" }, `${page.work.dtype} peak ${prefixed(peak, "FLOP/s")}`),
    svg("text", { class: "axis", x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" }, "work per compulsory byte, FLOP/B")]);
  const slope = (Math.atan2(y(ridge * dram) - y(x.low * dram), x(ridge) - x(x.low)) * 180) / Math.PI;
  const at = Math.sqrt(x.low * ridge);
  root.append(svg("text", { class: "label roof", "text-anchor": "middle", transform: `translate(${x(at)} ${y(at * dram) - 7}) rotate(${slope.toFixed(1)})` }, `DRAM ${prefixed(dram, "B/s")}`));
  const px = x(intensity);
  root.append(svg("path", { class: "best-line", d: path.map((p, i) => `${i === 0 ? "M" : "L"}${px} ${y(p.rate)}`).join("") }));
  // The last and the first have their label; others where there is room.
  const drawn = spread(path, 60);
  const labelled = [];
  const side = px > (box.left + box.right) / 2 ? -1 : 1;
  for (const p of [drawn.at(-1), ...drawn]) {
    if (labelled.some((at) => Math.abs(at - y(p.rate)) < 13)) continue;
    labelled.push(y(p.rate));
    root.append(svg("text", { class: "label", x: px + side * 10, y: y(p.rate) + 4, "text-anchor": side > 0 ? "start" : "end" }, `#${p.step} ${prefixed(p.rate, "FLOP/s")}`));
  }
  for (const p of drawn) root.append(glyph(p.step === 0 ? "baseline" : "improved", px, y(p.rate), 4, { "data-step": p.step }));
  return [root, path.map((p) => ({ x: px, y: y(p.rate), step: p.step }))];
}

// --- who comes from whom

const kTreeRows = 300;
const kLane = 16;
const kRow = 26;

// The child that leads to the best (else the one with most descendants) goes on in its parent's
// lane; the others branch off above it. So a long way to the best stays one straight line.
function treeRows(page) {
  const known = new Map(page.steps.map((s) => [s.step, s]));
  const path = new Set();
  for (let s = page.result ? known.get(page.result.step) : null; s; s = isNumber(s.parent) ? known.get(s.parent) : null) path.add(s.step);
  const wanted = new Set();
  const climb = (step) => { for (let s = known.get(step); s && !wanted.has(s.step); s = known.get(s.parent)) wanted.add(s.step); };
  const kept = [...page.steps].sort((a, b) => rank(a) - rank(b) || a.step - b.step);
  function rank(s) { return path.has(s.step) ? 0 : s.outcome === "improved" ? 1 : isNumber(s.ns) ? 2 : 3; }
  for (const s of kept) { if (wanted.size >= kTreeRows) break; climb(s.step); }
  const children = new Map();
  const roots = [];
  for (const s of page.steps) {
    if (!wanted.has(s.step)) continue;
    if (isNumber(s.parent) && wanted.has(s.parent) && s.parent !== s.step) {
      if (!children.has(s.parent)) children.set(s.parent, []);
      children.get(s.parent).push(s);
    } else roots.push(s);
  }
  const size = new Map();
  for (const s of [...page.steps].reverse()) if (wanted.has(s.step)) size.set(s.step, 1 + (children.get(s.step) || []).reduce((sum, c) => sum + (size.get(c.step) || 1), 0));
  const rows = [];
  const open = roots.reverse().map((s) => ({ step: s, lane: 0, from: -1 }));
  while (open.length > 0) {
    const { step, lane, from } = open.pop();
    const index = rows.length;
    rows.push({ step, lane, from, onPath: path.has(step.step) });
    const own = children.get(step.step) || [];
    if (own.length === 0) continue;
    const weight = (s) => (path.has(s.step) ? 1e9 : 0) + size.get(s.step);
    const main = own.reduce((a, b) => (weight(b) > weight(a) ? b : a));
    const goesOn = path.has(main.step) || own.length === 1 || size.get(main.step) > 1;
    const list = own.filter((s) => s !== main || !goesOn).map((s) => ({ step: s, lane: lane + 1, from: index }));
    if (goesOn) list.push({ step: main, lane, from: index });
    open.push(...list.reverse());
  }
  return rows;
}

function stepTitle(step) {
  if (step.mode === "tune") return "Tune the parameters of #" + (isNumber(step.candidate) ? step.candidate : step.parent);
  if (step.title) return step.title;
  if (step.outcome === "no_proposal") return "Nothing proposed" + (step.direction ? " for " + words(step.direction) : "");
  return words(step.direction || step.mode);
}

function lineageTree(page) {
  const rows = treeRows(page);
  const lanes = Math.min(24, rows.reduce((most, r) => Math.max(most, r.lane), 0) + 1);
  const lx = (lane) => 12 + Math.min(lane, lanes - 1) * kLane;
  const ly = (index) => index * kRow + kRow / 2;
  const graph = svg("svg", { class: "graph", width: lanes * kLane + 16, height: rows.length * kRow, "aria-hidden": "true" });
  rows.forEach((row, i) => {
    if (row.from < 0) return;
    const up = rows[row.from];
    const d = up.lane === row.lane ? `M${lx(up.lane)} ${ly(row.from)}V${ly(i)}`
      : `M${lx(up.lane)} ${ly(row.from)}V${ly(i) - 9}q0 9 9 9H${lx(row.lane)}`;
    graph.append(svg("path", { class: row.onPath ? "edge path" : "edge", d }));
  });
  rows.forEach((row, i) => graph.append(glyph(outcomeOf(row.step), lx(row.lane), ly(i), 4)));
  const list = rows.map((row) => el("button", { type: "button", class: "node" + (row.onPath ? " path" : ""), "data-step": row.step.step, style: `padding-left:${lx(row.lane) + 14}px` },
    el("span", { class: "num" }, "#" + row.step.step),
    el("span", { class: "what" }, stepTitle(row.step), isNumber(row.step.mate) && el("span", { class: "muted" }, ` + #${row.step.mate}`)),
    el("span", { class: "time" }, isNumber(row.step.ns) ? timeText(row.step.ns) : kOutcomes[outcomeOf(row.step)]),
    el("span", { class: "fast" }, isNumber(row.step.ns) && page.result ? times(page.result.before_ns / row.step.ns) : "")));
  return [el("div", { class: "tree" }, graph, list), rows.length];
}
