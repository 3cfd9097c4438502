// Two texts line by line with the fewest changes (Myers 1986); texts with very many changes are
// shown as replaced.
const kMostChanges = 1500;
const kMostLines = 4000; // drawn of one text

function diffLines(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) ++head;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) ++tail;
  const rows = [];
  for (let i = 0; i < head; ++i) rows.push([" ", i, i]);
  for (const [kind, i, j] of changes(a.slice(head, a.length - tail), b.slice(head, b.length - tail)))
    rows.push([kind, i < 0 ? -1 : i + head, j < 0 ? -1 : j + head]);
  for (let i = tail; i > 0; --i) rows.push([" ", a.length - i, b.length - i]);
  return rows;
}

function changes(a, b) {
  const replaced = () => [...a.map((_, i) => ["-", i, -1]), ...b.map((_, j) => ["+", -1, j])];
  if (a.length === 0 || b.length === 0) return replaced();
  const most = Math.min(a.length + b.length, kMostChanges);
  const furthest = new Int32Array(2 * most + 3);
  const at = (k) => k + most + 1;
  const trace = [];
  for (let d = 0; d <= most; ++d) {
    trace.push(furthest.slice(at(-d) - 1, at(d) + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && furthest[at(k - 1)] < furthest[at(k + 1)]) ? furthest[at(k + 1)] : furthest[at(k - 1)] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) ++x;
      furthest[at(k)] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace, d);
    }
  }
  return replaced();
}

function walkBack(a, b, trace, d) {
  const rows = [];
  let x = a.length;
  let y = b.length;
  for (; d >= 0; --d) {
    const value = (k) => trace[d][k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && value(k - 1) < value(k + 1));
    const before = down ? k + 1 : k - 1;
    const bx = d === 0 ? 0 : value(before);
    const by = d === 0 ? 0 : bx - before;
    while (x > bx && y > by && x > 0 && y > 0) rows.push([" ", --x, --y]);
    if (d === 0) break;
    if (down) rows.push(["+", -1, --y]);
    else rows.push(["-", --x, -1]);
  }
  return rows.reverse();
}

// Long stretches without a change are folded.
function folded(rows, context = 3) {
  const keep = new Uint8Array(rows.length);
  rows.forEach(([kind], i) => {
    if (kind === " ") return;
    for (let j = Math.max(0, i - context); j <= Math.min(rows.length - 1, i + context); ++j) keep[j] = 1;
  });
  const out = [];
  for (let i = 0; i < rows.length;) {
    if (keep[i]) { out.push(rows[i++]); continue; }
    let end = i;
    while (end < rows.length && !keep[end]) ++end;
    out.push(["fold", end - i]);
    i = end;
  }
  return out;
}

const codeLine = (kind, number, text) =>
  el("tr", { class: kind === "+" ? "added" : kind === "-" ? "removed" : null },
    number.map((n) => el("td", { class: "ln" }, n < 0 ? "" : n + 1)), el("td", { class: "code" }, text === "" ? "\u00a0" : text));

function unifiedView(a, b, rows) {
  return rows.map(([kind, i, j]) => kind === "fold"
    ? el("tr", { class: "fold" }, el("td", { colspan: 3 }, plural(i, "equal line")))
    : codeLine(kind, [i, j], (kind === "+" ? "+" : kind === "-" ? "\u2212" : " ") + (j >= 0 ? b[j] : a[i])));
}

function splitView(a, b, rows) {
  const out = [];
  for (let r = 0; r < rows.length;) {
    if (rows[r][0] === "fold") { out.push(el("tr", { class: "fold" }, el("td", { colspan: 4 }, plural(rows[r++][1], "equal line")))); continue; }
    const left = [];
    const right = [];
    while (r < rows.length && (rows[r][0] === "-" || rows[r][0] === "+")) (rows[r][0] === "-" ? left : right).push(rows[r++]);
    if (left.length === 0 && right.length === 0) { left.push(rows[r]); right.push(rows[r++]); }
    for (let i = 0; i < Math.max(left.length, right.length); ++i) {
      const cell = (row, lines, place, mark) => row
        ? [el("td", { class: "ln" }, row[place] + 1), el("td", { class: "code " + (row[0] === " " ? "" : mark) }, lines[row[place]] || "\u00a0")]
        : [el("td", { class: "ln" }), el("td", { class: "code none" })];
      out.push(el("tr", {}, cell(left[i], a, 1, "removed"), cell(right[i], b, 2, "added")));
    }
  }
  return out;
}

const linesOf = (text) => text.replace(/\n$/, "").split("\n");

function codeTable(rows, split) {
  const shown = rows.slice(0, kMostLines);
  return el("div", { class: "source" },
    el("table", { class: split ? "split" : "" }, el("tbody", {}, shown)),
    rows.length > shown.length && el("p", { class: "note" }, plural(rows.length - shown.length, "more line") + " not drawn"));
}

function diffView(before, after, split) {
  if (before === after) return el("p", { class: "note" }, "The two sources are equal.");
  const a = linesOf(before);
  const b = linesOf(after);
  const rows = folded(diffLines(a, b));
  return codeTable(split ? splitView(a, b, rows) : unifiedView(a, b, rows), split);
}

const sourceView = (text) => codeTable(linesOf(text).slice(0, kMostLines + 1).map((line, i) => codeLine(" ", [i], line)), false);
