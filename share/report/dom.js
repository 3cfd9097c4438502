"use strict";
// Elements, numbers and words. Every text goes through a text node: names, titles and sources were
// written by others and are never read as markup.

const byId = (id) => document.getElementById(id);

// Signs that would hide or reorder what stands beside them are made visible.
const kUnseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const visible = (text) =>
  String(text).replace(kUnseen, (c) => "\u27e8U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "\u27e9");

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

function withAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : visible(value));
  }
  return node;
}

const el = (tag, attributes, ...children) => append(withAttributes(document.createElement(tag), attributes), children);
const svg = (tag, attributes, ...children) =>
  append(withAttributes(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes), children);

function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// Four figures, never 1e5.
function figures(value, digits = 4) {
  if (!isNumber(value)) return "unknown";
  const size = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  if (size >= digits) return Math.round(value).toLocaleString("en-US").replaceAll(",", "\u202f");
  if (size < -5) return value.toExponential(2);
  return value.toFixed(Math.max(0, digits - 1 - size));
}

const kTimes = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
function timeText(ns) {
  if (!isNumber(ns)) return "\u2013";
  const [scale, unit] = kTimes.find(([s]) => ns >= s * 0.9995) || kTimes[3];
  return figures(ns / scale) + "\u00a0" + unit;
}

// Of round numbers, without zeros at the end.
const tickText = (ns) => timeText(ns).replace(/(\.\d*?)0+(?=\D)/, "$1").replace(/\.(?=\D)/, "");

const kPrefixes = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
function prefixed(value, unit, digits = 3) {
  if (!isNumber(value)) return "unknown";
  const [scale, prefix] = kPrefixes.find(([s]) => value >= s) || kPrefixes[5];
  return figures(value / scale, digits) + "\u00a0" + prefix + unit;
}

function secondsText(seconds) {
  if (!isNumber(seconds)) return "unknown";
  if (seconds < 10) return figures(seconds, 2) + "\u00a0s";
  const whole = Math.round(seconds);
  if (whole < 120) return whole + "\u00a0s";
  if (whole < 7200) return Math.floor(whole / 60) + "\u00a0min " + (whole % 60) + "\u00a0s";
  return Math.floor(whole / 3600) + "\u00a0h " + Math.round((whole % 3600) / 60) + "\u00a0min";
}

const percent = (share, digits = 0) => (isNumber(share) ? (100 * share).toFixed(digits) + "\u00a0%" : "unknown");
const times = (factor) => (isNumber(factor) ? factor.toFixed(factor >= 99.95 ? 0 : factor >= 9.995 ? 1 : 2) + "\u00a0\u00d7" : "\u2013");
const count = (value) => (isNumber(value) ? value.toLocaleString("en-US").replaceAll(",", "\u202f") : "unknown");
const plural = (value, one, many) => count(value) + "\u00a0" + (value === 1 ? one : many || one + "s");
const words = (name) => String(name).replaceAll("_", " ");

// A metric's value in the unit people read.
function metricText(value, unit) {
  if (!isNumber(value)) return "unknown";
  if (unit === "fraction") return percent(value, Math.abs(value) < 0.1 ? 1 : 0);
  return figures(value, 3) + (unit ? "\u00a0" + unit : "");
}
// Figures of a decision have no unit; shares say so by their name.
const reasonText = (metric, value) =>
  metricText(value, /^(share\.|severity$|occupancy$|achieved_occupancy$|grid_balance$)/.test(metric) ? "fraction" : "");

const tip = {
  show(x, y, ...lines) {
    const box = byId("tip");
    replace(box, lines.filter(Boolean).map((line, i) => el(i === 0 ? "strong" : "span", {}, line)));
    box.hidden = false;
    const r = box.getBoundingClientRect();
    box.style.left = Math.max(6, Math.min(x + 14, innerWidth - r.width - 6)) + "px";
    box.style.top = Math.max(6, y + 16 + r.height > innerHeight ? y - r.height - 10 : y + 16) + "px";
  },
  hide() { byId("tip").hidden = true; },
};
