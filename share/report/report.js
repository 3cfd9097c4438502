// The page: what stands where, the selected step, the table.

const page = JSON.parse(byId("data").textContent);
const stepsByNumber = new Map(page.steps.map((s) => [s.step, s]));
const label = page.run.provenance; // beside every time
const ofTheRoofline = page.work.estimated ? "of the roofline, estimated" : "of the roofline";
const reference = page.result ? page.result.before_ns : null;
const faster = (ns) => (isNumber(ns) && isNumber(reference) ? reference / ns : null);

const heading = (text, ...note) => el("div", { class: "heading" }, el("h2", {}, text), el("span", { class: "muted" }, note));
const outcomeBadge = (outcome) => el("span", { class: "badge o-" + outcome }, sign(outcome), kOutcomes[outcome] || words(outcome));
const stepLink = (number, text) => stepsByNumber.has(number)
  ? el("button", { type: "button", class: "link", click: () => select(number, true) }, text || "#" + number)
  : el("span", {}, text || "#" + number);
const pairs = (rows) => el("dl", { class: "facts" }, rows.filter(Boolean).map(([name, ...value]) => [el("dt", {}, name), el("dd", {}, value)]));

// --- the head: before, after, and why it ended

function drawHead() {
  const { run, result, cost, work } = page;
  const title = el("div", { class: "title" }, el("h1", {}, run.name),
    el("span", { class: "muted" }, [run.operation, work.dtype].filter(Boolean).join(" "), work.semantics && work.semantics !== run.operation && ` \u2013 ${work.semantics}`));
  let hero;
  if (!result) {
    hero = el("p", { class: "hero" }, "No baseline yet");
  } else if (result.met_by_baseline) {
    hero = [el("p", { class: "hero" }, timeText(result.before_ns)), el("p", { class: "gain none" }, (run.stop.reason === "target" ? "target met" : "roofline reached") + " by the baseline; nothing was left to gain")];
  } else if (result.speedup <= 1) {
    hero = [el("p", { class: "hero" }, timeText(result.before_ns)), el("p", { class: "gain none" }, "no improvement found; the reference is the best")];
  } else {
    hero = [el("p", { class: "hero" }, el("span", { class: "before" }, timeText(result.before_ns)), el("span", { class: "arrow" }, " \u2192 "), timeText(result.after_ns)),
      el("p", { class: "gain" }, el("strong", {}, times(result.speedup)), " the reference\u2019s speed, ", stepLink(result.step, "step #" + result.step))];
  }
  const dollars = cost.dollars === null ? "unknown" : "$" + cost.dollars.toFixed(2);
  const tiles = [
    ["steps", count(cost.steps)], ["evaluations", count(cost.evaluations)], ["time of the run", secondsText(cost.seconds)],
    [ofTheRoofline, result && isNumber(result.roofline) ? percent(result.roofline) : "unknown"],
    ["tokens", count(cost.tokens)], ["money", dollars]];
  const stop = run.stop
    ? [el("strong", {}, "Stopped: "), run.stop.text, el("span", { class: "muted" }, ` (${words(run.stop.reason)})`)]
    : [el("strong", {}, "No stop is recorded: "), "the run was going on, or had been killed, when this page was made", cost.under_way > 0 && `; ${plural(cost.under_way, "step")} under way`];
  replace(byId("head"),
    el("div", { class: "top" }, el("div", {}, title, hero, el("p", { class: "label-line" }, el("span", { class: "pill" }, label), run.method === "modelled" && el("span", { class: "muted" }, " no GPU was used; times come from a timing model"),
      result && result.conditions && result.conditions.length > 0 && el("span", { class: "muted" }, " " + result.conditions.join("; ")))),
      el("div", { class: "tiles" }, tiles.map(([name, value]) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, name))))),
    el("p", { class: run.stop ? "stop" : "stop open" }, stop));
}

// --- charts

// The nearest mark answers to the pointer.
function interactive(root, marks, reach = 26) {
  const nearest = (event) => {
    const r = root.getBoundingClientRect();
    let best = null;
    let distance = reach * reach;
    for (const mark of marks) {
      const d = (mark.x - event.clientX + r.left) ** 2 + (mark.y - event.clientY + r.top) ** 2;
      if (d < distance) { best = mark; distance = d; }
    }
    return best;
  };
  root.addEventListener("pointermove", (event) => {
    const mark = nearest(event);
    root.style.cursor = mark ? "pointer" : "";
    if (mark) stepTip(event, mark.step);
    else tip.hide();
  });
  root.addEventListener("pointerleave", tip.hide);
  root.addEventListener("click", (event) => { const mark = nearest(event); if (mark) select(mark.step, true); });
}

function stepTip(event, number) {
  const step = stepsByNumber.get(number);
  if (!step) return;
  tip.show(event.clientX, event.clientY, `#${number} ${kOutcomes[outcomeOf(step)]}`,
    isNumber(step.ns) && `${timeText(step.ns)} ${label}` + (isNumber(faster(step.ns)) ? `, ${times(faster(step.ns))} the reference` : ""),
    stepTitle(step), step.summary, step.tag && "bottleneck: " + words(step.tag), parametersText(step.parameters));
}
const parametersText = (parameters) => Object.entries(parameters || {}).map(([name, value]) => `${name}=${value}`).join(" ");

const thinned = () => page.limits.steps_shown < page.limits.steps_total &&
  el("p", { class: "note" }, `${count(page.limits.steps_shown)} of ${plural(page.limits.steps_total, "step")} are on this page: every best and its ancestors, the rest thinned out evenly.`);

function legend() {
  const counts = {};
  for (const step of page.steps) counts[outcomeOf(step)] = (counts[outcomeOf(step)] || 0) + 1;
  const all = { ...counts, ...page.cost.outcomes };
  return el("div", { class: "legend" }, el("span", {}, el("i", { class: "key best" }), "best so far"),
    Object.keys(kOutcomes).filter((o) => all[o]).map((o) => el("span", {}, sign(o), kOutcomes[o], el("b", {}, count(all[o])))));
}

const draws = [];
// Draws into a box as wide as it is; again when that changes.
function chart(box, make) {
  const draw = () => { const width = Math.floor(box.clientWidth); if (width > 0 && box.drawn !== width) { box.drawn = width; replace(box, make(width)); mark(); } };
  draws.push(draw);
  return box;
}

function drawProgress() {
  const box = el("div", { class: "chart" });
  replace(byId("progress"), heading("Progress", `time on a log scale, ${label}`), legend(),
    chart(box, (width) => { const [root, marks] = progressChart(page, width); interactive(root, marks); return root; }), thinned());
}

function drawBottlenecks() {
  const section = byId("bottlenecks");
  if (!page.bests.some((b) => b.tags.length > 0)) {
    replace(section, heading("What held the best back"), el("p", { class: "note" }, "No bottleneck is recorded for any best."));
    return;
  }
  const box = el("div", { class: "chart" });
  const note = el("p", { class: "note" });
  replace(section, heading("What held the best back", "bottlenecks of each new best"), chart(box, (width) => {
    const [root, marks, drawn] = bottleneckChart(page, width);
    replace(note, drawn < page.bests.length && `${drawn} of ${plural(page.bests.length, "best")} are drawn.`);
    const byStep = new Map(marks.map((m) => [String(m.step), m.best]));
    const best = (event) => { const g = event.target.closest("[data-step]"); return g && byStep.get(g.dataset.step); };
    root.addEventListener("pointermove", (event) => {
      const b = best(event);
      if (b) tip.show(event.clientX, event.clientY, `#${b.step} ${timeText(b.ns)} ${label}`, b.tags.map(([tag, severity]) => `${words(tag)} ${percent(severity)}`).join(", ") || "nothing found");
      else tip.hide();
    });
    root.addEventListener("pointerleave", tip.hide);
    root.addEventListener("click", (event) => { const b = best(event); if (b) select(b.step, true); });
    return root;
  }), note);
}

function drawLineage() {
  const [tree, drawn] = lineageTree(page);
  tree.addEventListener("click", (event) => { const node = event.target.closest("[data-step]"); if (node) select(Number(node.dataset.step), true); });
  const left = page.limits.steps_total - drawn;
  replace(byId("lineage"), heading("Lineage", `the way to the best is bold; times ${label}`), el("div", { class: "scroll tall" }, tree),
    left > 0 && el("p", { class: "note" }, `${count(drawn)} of ${plural(page.limits.steps_total, "step")} are drawn: the way to the best, other bests, then right candidates.`));
}

function drawRoofline() {
  const section = byId("roofline");
  const shapes = page.work.shapes.filter((s) => s.flops > 0 && s.bytes > 0);
  const usable = shapes.length > 0 && page.work.peak_rate > 0 && page.work.dram_rate > 0 && page.bests.some((b) => isNumber(b.ns));
  if (!usable) {
    replace(section, heading("Roofline"), el("p", { class: "note" }, page.work.problem ? "Not drawn: " + page.work.problem : "Not drawn: the task has no model of its work (flops and bytes)."));
    return;
  }
  let shape = shapes.reduce((a, b) => (b.least_ns > a.least_ns ? b : a));
  const box = el("div", { class: "chart" });
  const choose = shapes.length > 1 && el("select", { "aria-label": "Shape", change: (event) => { shape = shapes[event.target.selectedIndex]; box.drawn = 0; redraw(); } },
    shapes.map((s) => el("option", { selected: s === shape }, s.shape)));
  replace(section, heading("Roofline", choose || shape.shape, ` ${label}`), chart(box, (width) => {
    const [root, marks] = rooflineChart(page, shape, width);
    interactive(root, marks);
    return root;
  }), el("p", { class: "note" }, (page.work.estimated ? "Estimated from the reference: its own operations, which another algorithm may not need, and the bytes that changed an output when they were changed. " : "") + "Rate: the work the task\u2019s model counts, by the " + page.run.method + " time. Intensity: that work by the bytes that must move whatever the kernel does, so all kernels of a shape stand above one another. Roofs: the GPU\u2019s table."));
}

function drawLessons() {
  const lessons = page.lessons.filter((l) => l.pairs > 0 || l.faults > 0).sort((a, b) => b.mean - a.mean);
  const section = byId("lessons");
  if (lessons.length === 0) {
    replace(section, heading("Lessons"), el("p", { class: "note" }, "No two candidates differ in one move alone, so nothing can be said about single moves."));
    return;
  }
  const most = Math.max(...lessons.map((l) => Math.abs(l.mean)), 0.05);
  replace(section, heading("Lessons", "moves that helped or harmed, by pairs that differ in one"), el("div", { class: "scroll" }, el("table", { class: "list lessons" },
    el("thead", {}, el("tr", {}, [["move", ""], ["speed", "right"], ["", "bar"], ["evidence", ""]].map(([name, kind]) => el("th", { class: kind }, name)))),
    el("tbody", {}, lessons.slice(0, 200).map((l) => {
      const good = l.mean > 0.02;
      const bad = l.mean < -0.02 || (l.pairs === 0 && l.faults > 0);
      return el("tr", {}, el("td", {}, words(l.gene), l.avoid && el("span", { class: "badge o-wrong" }, "avoided")),
        el("td", { class: "right " + (good ? "good" : bad ? "bad" : "") }, l.pairs > 0 ? times(Math.exp(l.mean)) : "\u2013"),
        el("td", { class: "bar" }, l.pairs > 0 && el("i", { class: good ? "good" : bad ? "bad" : "", style: `width:${(50 * Math.abs(l.mean)) / most}%;${l.mean >= 0 ? "left" : "right"}:50%` })),
        el("td", { class: "muted" }, l.pairs > 0 && [plural(l.pairs, "pair"), l.pairs > 1 && `, ${times(Math.exp(l.least))} to ${times(Math.exp(l.most))}`, ": ",
          l.evidence.slice(-2).map((e, i) => [i > 0 && ", ", stepLink(e.with), " beside ", stepLink(e.without)])],
          l.faults > 0 && [l.pairs > 0 && "; ", `wrong or failing ${count(l.faults)} \u00d7`]));
    })))));
}

function drawShapes() {
  const after = new Map(page.after_shapes.map((s) => [s.shape, s]));
  const lowest = new Map(page.work.shapes.map((s) => [s.shape, s.least_ns]));
  replace(byId("shapes"), heading("Shapes", label), page.before_shapes.length === 0 ? el("p", { class: "note" }, "Nothing was timed yet.") : el("div", { class: "scroll" }, el("table", { class: "list" },
    el("thead", {}, el("tr", {}, ["shape", "before", "after", "range of the model", "speed", "roofline"].map((name, i) => el("th", { class: i === 3 ? "right wide" : i > 0 ? "right" : "" }, name)))),
    el("tbody", {}, page.before_shapes.map((b) => {
      const a = after.get(b.shape);
      return el("tr", {}, el("td", {}, b.shape), el("td", { class: "right" }, timeText(b.ns)), el("td", { class: "right" }, a ? timeText(a.ns) : "\u2013"),
        el("td", { class: "right muted wide" }, a ? `${timeText(a.low)} \u2026 ${timeText(a.high)}` : ""), el("td", { class: "right" }, a ? times(b.ns / a.ns) : "\u2013"),
        el("td", { class: "right" }, a && lowest.has(b.shape) ? percent(lowest.get(b.shape) / a.ns) : "unknown"));
    })))));
}

const dollarsText = (dollars) => (isNumber(dollars) ? "$" + dollars.toFixed(4) : "cost unknown");

// Calls of models by what they were for and by whom, and the kernels that had to be mended.
function spendingRows(cost) {
  const spent = (by) => Object.entries(by).map(([name, s]) => el("div", {}, el("b", {}, words(name)), ` ${plural(s.calls, "call")}, ${count(s.prompt + s.completion)} tokens, ${dollarsText(s.dollars)}, ${secondsText(s.seconds)}`));
  const calls = Object.values(cost.by_stage).reduce((sum, s) => sum + s.calls, 0);
  return [
    calls > 0 && ["model calls", count(calls)],
    calls > 0 && ["by stage", spent(cost.by_stage)],
    calls > 0 && ["by model", spent(cost.by_model)],
    cost.attempts > 0 && ["faulty attempts", count(cost.attempts), el("span", { class: "muted" }, ` ${plural(cost.repaired, "step")} right after a repair`)],
  ];
}

function drawCost() {
  const { run, cost } = page;
  const of = (value) => (isNumber(value) ? el("span", { class: "muted" }, ` of ${count(value)}`) : null);
  const date = (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 16) + " UTC";
  replace(byId("cost"), heading("Cost"), pairs([
    ["evaluations", count(cost.evaluations), of(run.budget.evaluations)],
    ["steps", count(cost.steps), of(run.budget.rounds)],
    ["time of the run", secondsText(cost.seconds), isNumber(run.budget.seconds) && el("span", { class: "muted" }, ` of ${secondsText(run.budget.seconds)}`)],
    ["evaluating, all workers", secondsText(cost.evaluation_seconds)],
    ["tokens", count(cost.tokens), of(run.budget.tokens)],
    ["money", cost.dollars === null ? "unknown" : "$" + cost.dollars.toFixed(2), isNumber(run.budget.dollars) && el("span", { class: "muted" }, ` of $${run.budget.dollars}`)],
    ...spendingRows(cost),
    ["search", `${run.search}, ${run.proposers.join(", ")}, seed ${run.seed}`],
    ["task", run.task_file], ["began", date(run.began)],
  ]));
  replace(byId("foot"), `kernevo ${run.program} \u00b7 times ${label} \u00b7 page made ${date(run.made)}`);
}

// --- the selected step

let selected = null;

function mark() {
  document.querySelectorAll(".selected").forEach((node) => node.classList.remove("selected"));
  document.querySelectorAll(`[data-step="${Number(selected)}"]`).forEach((node) => node.classList.add("selected"));
}

function select(number, reveal) {
  if (!stepsByNumber.has(number)) return;
  selected = number;
  tip.hide();
  drawDetail(stepsByNumber.get(number));
  mark();
  const aside = byId("detail");
  aside.scrollTop = 0;
  if (reveal && getComputedStyle(aside).position !== "sticky") aside.scrollIntoView({ behavior: "smooth" });
  try { history.replaceState(null, "", "#step-" + number); } catch { /* some viewers have no history */ }
}

function whyChain(step) {
  const d = step.detail || {};
  const why = d.why;
  const box = (name, ...content) => el("li", {}, el("h4", {}, name), content);
  const figure = (r) => el("span", { class: "figure" }, el("code", {}, r.metric), " ", el("b", {}, reasonText(r.metric, r.value)), isNumber(r.threshold) && el("span", { class: "muted" }, ` against ${reasonText(r.metric, r.threshold)}`));
  const reasons = d.reasons || [];
  const compared = reasons.filter((r) => isNumber(r.threshold));
  const others = reasons.filter((r) => !isNumber(r.threshold));
  return el("ol", { class: "chain" },
    reasons.length > 0 && box("Figures", compared.map(figure), others.length > 0 && el("details", {}, el("summary", {}, plural(others.length, compared.length ? "further figure" : "figure")), others.map(figure))),
    step.rule && box("Rule", el("p", {}, el("b", {}, words(step.rule)), why && isNumber(why.severity) && ` \u2013 ${percent(why.severity)} of the time at stake`),
      why && why.message && el("p", {}, why.message),
      why && why.condition && el("details", {}, el("summary", {}, "condition"), el("pre", {}, why.condition),
        el("ul", { class: "plain" }, why.comparisons.map((c) => el("li", { class: c.holds ? "holds" : "fails" }, c.text, isNumber(c.left) && isNumber(c.right) && el("span", { class: "muted" }, ` (${figures(c.left, 3)} against ${figures(c.right, 3)})`)))))),
    step.direction && box("Direction", el("p", {}, el("b", {}, words(step.direction)), why && why.direction && ` \u2013 ${why.direction}`)),
    box("Directive", el("p", {}, el("b", {}, words(step.mode)), isNumber(step.parent) && [" ", stepLink(step.parent)], isNumber(step.mate) && [" with ", stepLink(step.mate)], `, decided by `, el("b", {}, words(step.gate)), step.proposer && step.mode !== "baseline" && [", proposer ", el("b", {}, step.proposer)]),
      el("p", { class: "muted" }, step.reason), isNumber(d.granted) && el("p", { class: "muted" }, `at most ${plural(d.granted, "evaluation")}`)));
}

function factRows(step) {
  const d = step.detail || {};
  const f = d.facts;
  const vs = isNumber(d.incumbent_ns) && isNumber(step.ns) ? d.incumbent_ns / step.ns : null;
  return [
    isNumber(step.ns) && [`time, ${label}`, el("b", {}, timeText(step.ns))],
    isNumber(step.ns) && ["reference\u2019s speed", times(faster(step.ns))],
    isNumber(vs) && step.step > 0 && ["best\u2019s speed when decided", times(vs), isNumber(d.incumbent) && [" of ", stepLink(d.incumbent)]],
    isNumber(step.roofline) && [ofTheRoofline, percent(step.roofline)],
    isNumber(step.same_as) && ["compiles to the same as", stepLink(step.same_as)],
    step.candidate !== undefined && step.candidate !== step.step && ["candidate", stepLink(step.candidate)],
    step.genes && step.genes.length > 0 && ["moves", step.genes.map(words).join(", ")],
    isNumber(step.evaluations) && ["evaluations", count(step.evaluations), d.exhausted && el("span", { class: "muted" }, " all valid parameters tried")],
    isNumber(step.seconds) && ["evaluated in", secondsText(step.seconds)],
    f && ["occupancy", percent(f.occupancy), el("span", { class: "muted" }, f.limiter ? ` limited by ${f.limiter}` : "")],
    f && ["registers", count(f.registers)],
    f && ["memory", `${f.memory}, ${f.vector_bytes}-byte accesses` + (f.tensor ? ", tensor cores" : "") + (f.launches > 1 ? `, ${f.launches} launches` : "")],
    isNumber(step.tokens) && ["tokens", count(step.tokens), ", ", dollarsText(step.dollars)],
  ];
}

function parameterList(step) {
  const entries = Object.entries(step.parameters || {});
  if (entries.length === 0) return null;
  // What tuning changed, against the candidate's own first measurement.
  const before = step.mode === "tune" ? (stepsByNumber.get(step.candidate) || {}).parameters || {} : {};
  return [el("h3", {}, "Parameters"), el("div", { class: "chips" }, entries.map(([name, value]) => {
    const changed = before[name] !== undefined && before[name] !== value;
    return el("span", { class: changed ? "chip changed" : "chip" }, el("code", {}, name), " ", changed && el("s", {}, before[name]), changed && " ", el("b", {}, value));
  }))];
}

function findingList(step) {
  const d = step.detail;
  if (!d || !d.findings || d.findings.length === 0) return null;
  return [el("h3", {}, "What holds it back"), d.findings.map((f, i) => el("details", { class: "finding", open: i === 0 },
    el("summary", {}, el("b", {}, words(f.tag)), el("span", { class: "meter" }, el("i", { class: f.tag === "near_roofline" ? "good" : "", style: `width:${100 * Math.min(1, Math.max(0, f.severity))}%` })), el("span", { class: "right" }, percent(f.severity))),
    el("p", {}, f.message), el("p", { class: "muted" }, f.reason),
    el("table", { class: "list evidence" }, el("thead", {}, el("tr", {}, el("th", {}, "evidence"), el("th", { class: "right" }, "value"), el("th", { class: "right" }, "threshold"))),
      el("tbody", {}, f.evidence.map((e) => el("tr", {}, el("td", {}, el("code", {}, e.metric)), el("td", { class: "right" }, metricText(e.value, e.unit)), el("td", { class: "right muted" }, isNumber(e.threshold) ? metricText(e.threshold, e.unit) : ""))))),
    f.directions.length > 0 && el("ul", { class: "directions" }, f.directions.map((x) => el("li", {}, el("b", {}, words(x.name)), " \u2013 ", x.text)))))];
}

function shapeList(step) {
  const shapes = (step.detail || {}).shapes || [];
  if (shapes.length < 2) return null;
  const before = new Map(page.before_shapes.map((s) => [s.shape, s.ns]));
  return [el("h3", {}, "Shapes"), el("table", { class: "list" }, el("thead", {}, el("tr", {}, el("th", {}, "shape"), el("th", { class: "right" }, `time, ${page.run.method}`), el("th", { class: "right" }, "speed"))),
    el("tbody", {}, shapes.map((s) => el("tr", {}, el("td", {}, s.shape), el("td", { class: "right" }, timeText(s.ns)), el("td", { class: "right" }, before.has(s.shape) ? times(before.get(s.shape) / s.ns) : "\u2013")))))];
}

function attemptList(step) {
  const attempts = (step.detail || {}).attempts || [];
  if (attempts.length === 0) return null;
  return [el("h3", {}, "Attempts before it"), attempts.map((a, i) => el("details", { class: "finding" },
    el("summary", {}, el("b", {}, `${i + 1}. ${a.fault ? words(a.fault) : "no kernel in the reply"}`)),
    el("p", {}, a.title), el("p", { class: "bad" }, a.summary), a.details.length > 0 && el("pre", {}, a.details.join("\n"))))];
}

function callList(step) {
  const calls = (step.detail || {}).calls || [];
  if (calls.length === 0) return null;
  return [el("h3", {}, "Model calls"), el("table", { class: "list" },
    el("thead", {}, el("tr", {}, [["stage", ""], ["model", ""], ["tokens", "right"], ["cost", "right"], ["time", "right"], ["ended", ""]].map(([name, kind]) => el("th", { class: kind }, name)))),
    el("tbody", {}, calls.map((c) => el("tr", {}, el("td", {}, words(c.stage)), el("td", {}, c.model), el("td", { class: "right" }, count(c.tokens)), el("td", { class: "right" }, dollarsText(c.dollars)),
      el("td", { class: "right" }, secondsText(c.seconds)), el("td", {}, words(c.finish), c.tries > 1 && el("span", { class: "muted" }, ` ${plural(c.tries, "try", "tries")}`))))))];
}

const sourceOf = (number) => { const s = stepsByNumber.get(number); return s && isNumber(s.source) ? page.sources[s.source] : null; };
// Tuning changes no text: its source is the candidate's.
const sourceStep = (step) => (step.mode === "tune" ? (isNumber(step.candidate) ? step.candidate : step.parent) : step.step);

function sourcePart(step) {
  const own = sourceStep(step);
  const text = sourceOf(own);
  if (text === null) return step.title || step.mode === "tune" ? [el("h3", {}, "Source"), el("p", { class: "note" }, "The source is not on this page; 'kernevo extract' and 'kernevo show' have it.")] : null;
  const parent = (stepsByNumber.get(own) || {}).parent;
  const bases = [["parent", parent], ["reference", 0], ["best", page.result ? page.result.candidate : null], ["other parent", (stepsByNumber.get(own) || {}).mate]]
    .filter(([, n], i, all) => isNumber(n) && n !== own && sourceOf(n) !== null && all.findIndex(([, m]) => m === n) === i);
  let base = bases.length > 0 ? bases[0][1] : null;
  const view = el("div", {});
  const tabs = el("div", { class: "tabs" });
  const content = (split) => (base === null ? sourceView(text) : diffView(sourceOf(base), text, split));
  const draw = () => {
    const tab = (name, value) => el("button", { type: "button", class: base === value ? "on" : "", click: () => { base = value; draw(); } }, name);
    replace(tabs, bases.map(([name, n]) => tab(`against ${name} #${n}`, n)), tab("source", null), el("button", { type: "button", class: "end", click: openWide }, "wide"));
    replace(view, content(false));
  };
  const openWide = () => {
    const dialog = byId("wide");
    replace(dialog, el("div", { class: "bar-top" }, el("b", {}, base === null ? `Source of #${own}` : `#${base} \u2192 #${own}`), el("button", { type: "button", click: () => dialog.close() }, "close")), content(true));
    dialog.showModal();
  };
  draw();
  return [el("h3", {}, own === step.step ? "Source" : `Source of #${own}`), tabs, view];
}

function drawDetail(step) {
  const index = page.steps.indexOf(step);
  const go = (text, target, name) => el("button", { type: "button", disabled: !target, "aria-label": name, title: name, click: () => target && select(target.step) }, text);
  replace(byId("detail"),
    el("div", { class: "detail-top" }, el("h2", {}, "Step #" + step.step), outcomeBadge(outcomeOf(step)), el("span", { class: "grow" }),
      go("\u2039", page.steps[index - 1], "previous step"), go("\u203a", page.steps[index + 1], "next step"), page.result && go("best", stepsByNumber.get(page.result.step), "the best")),
    el("p", { class: "lead" }, stepTitle(step)),
    (step.summary || (step.detail || {}).fault) && el("p", { class: isFault(step.outcome) ? "summary bad" : "summary" }, (step.detail || {}).fault && el("b", {}, words(step.detail.fault) + ": "), step.summary),
    pairs(factRows(step)), parameterList(step), shapeList(step), attemptList(step), callList(step),
    el("h3", {}, "Why this step"), whyChain(step),
    !step.detail && el("p", { class: "note" }, "The details of this step are not on the page, which would grow too large; 'kernevo show' has them."),
    findingList(step), sourcePart(step));
}

// --- the table

const kTablePage = 100;
const table = { sort: "step", down: false, outcome: "", text: "", shown: kTablePage };
const kColumns = [
  ["step", "step", (s) => s.step, "right"], ["outcome", "outcome", (s) => outcomeOf(s), ""], ["time", `time, ${page.run.method}`, (s) => (isNumber(s.ns) ? s.ns : Infinity), "right"],
  ["speed", "speed", (s) => (isNumber(s.ns) ? s.ns : Infinity), "right"], ["mode", "mode, direction", (s) => s.mode + " " + s.direction, "wide"], ["what", "what; the gate that decided, and why", (s) => stepTitle(s), ""]];

function rowsWanted() {
  const text = table.text.toLowerCase();
  const key = kColumns.find(([name]) => name === table.sort)[2];
  const hay = (s) => [stepTitle(s), s.direction, s.rule, s.gate, s.mode, s.reason, s.summary, s.tag, parametersText(s.parameters)].join(" ").toLowerCase();
  const rows = page.steps.filter((s) => (!table.outcome || outcomeOf(s) === table.outcome) && (!text || ("#" + s.step) === text || hay(s).includes(text)));
  rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.step - b.step) * (table.down ? -1 : 1));
  return rows;
}

function tableRow(s) {
  return el("tr", { "data-step": s.step, tabindex: 0, keydown: (event) => { if (event.key === "Enter") select(s.step, true); } },
    el("td", { class: "right" }, "#" + s.step), el("td", { class: "nowrap" }, sign(outcomeOf(s)), el("span", { class: "word" }, kOutcomes[outcomeOf(s)])),
    el("td", { class: "right nowrap" }, timeText(s.ns)), el("td", { class: "right nowrap" }, times(faster(s.ns))),
    el("td", { class: "wide words" }, s.mode, el("div", { class: "muted" }, words(s.direction))),
    el("td", {}, stepTitle(s), s.summary && el("span", { class: isFault(s.outcome) ? "bad" : "muted" }, " \u2013 " + s.summary),
      s.parameters && Object.keys(s.parameters).length > 0 && el("div", {}, el("code", {}, parametersText(s.parameters))), el("div", { class: "muted" }, el("b", {}, words(s.gate)), ": ", s.reason)));
}

function drawTable() {
  const section = byId("table");
  const body = el("tbody", {});
  const head = el("tr", {});
  const more = el("p", { class: "note" });
  const draw = () => {
    const rows = rowsWanted();
    replace(head, kColumns.map(([name, text, , kind]) => el("th", { class: kind, "aria-sort": table.sort === name ? (table.down ? "descending" : "ascending") : null },
      el("button", { type: "button", class: "sort", click: () => { table.down = table.sort === name && !table.down; table.sort = name; draw(); } }, text, table.sort === name && (table.down ? " \u2193" : " \u2191")))));
    replace(body, rows.slice(0, table.shown).map(tableRow));
    const left = rows.length - table.shown;
    replace(more, rows.length === 0 ? "No step is like that." : left > 0 && [`${count(table.shown)} of ${plural(rows.length, "step")} `, el("button", { type: "button", click: () => { table.shown += kTablePage; draw(); } }, `show ${count(Math.min(left, kTablePage))} more`)]);
    mark();
  };
  body.addEventListener("click", (event) => { const row = event.target.closest("[data-step]"); if (row) select(Number(row.dataset.step), true); });
  const outcomes = [...new Set(page.steps.map(outcomeOf))];
  replace(section, heading("Steps", `times ${label}`), el("div", { class: "filters" },
    el("input", { type: "search", placeholder: "search", "aria-label": "Search steps", input: (event) => { table.text = event.target.value.trim(); table.shown = kTablePage; draw(); } }),
    el("select", { "aria-label": "Outcome", change: (event) => { table.outcome = event.target.value; table.shown = kTablePage; draw(); } }, el("option", { value: "" }, "every outcome"), outcomes.map((o) => el("option", { value: o }, kOutcomes[o])))),
    el("div", { class: "scroll" }, el("table", { class: "list steps" }, el("thead", {}, head), body)), more, thinned());
  draw();
}

// --- begin

function redraw() { for (const draw of draws) draw(); }

drawHead();
drawProgress();
drawBottlenecks();
drawLineage();
drawRoofline();
drawLessons();
drawTable();
drawShapes();
drawCost();
redraw();
new ResizeObserver(redraw).observe(byId("story"));
const wanted = /^#step-(\d+)$/.exec(location.hash);
const first = wanted && stepsByNumber.has(Number(wanted[1])) ? Number(wanted[1]) : page.result ? page.result.step : page.steps.length > 0 ? page.steps[0].step : null;
if (first !== null) select(first, false);
else replace(byId("detail"), el("p", { class: "note" }, "No step yet."));
