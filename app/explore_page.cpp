#include "attica/app/explore_page.hpp"

namespace attica::app {
namespace {

// Colours as in plots/theme.cpp.
constexpr std::string_view kPage = R"PAGE(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>attica explore</title>
<style>
:root { color-scheme: light dark; --ink: #111; --paper: #fff; --faint: #777; --rule: #8886; --panel: #8881; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --paper: #181a1b; --faint: #aaa; } }
body { margin: 0 auto; max-width: 76rem; padding: .8rem; color: var(--ink); background: var(--paper);
  font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.15rem; margin: 0; } p { margin: .3rem 0; }
main { display: grid; grid-template-columns: 21rem minmax(0, 1fr); gap: 1.2rem; align-items: start; }
#view { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; background: var(--paper); }
@media (max-width: 50rem) { main { grid-template-columns: minmax(0, 1fr); } #view { order: -1; max-height: 55vh; border-bottom: 1px solid var(--rule); } }
fieldset { border: 1px solid var(--rule); border-radius: .3rem; margin: 0 0 .7rem; padding: .3rem .6rem; min-width: 0; }
.row { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .1rem .5rem; align-items: center; margin: .25rem 0; }
.row label { overflow-wrap: anywhere; } .row.changed label { font-weight: bold; }
.row input[type=range] { width: 100%; margin: 0; } .row .two { grid-column: 2; }
.row input[type=text], .row select { width: 100%; box-sizing: border-box; font: inherit; }
.buttons { display: flex; flex-wrap: wrap; gap: .4rem; margin: .4rem 0; } button { font: inherit; }
#status { min-height: 1.4em; color: var(--faint); overflow-wrap: anywhere; } #status.wrong { color: #c33; }
#figures.old { opacity: .45; } svg { display: block; width: 100%; height: auto; margin-bottom: .8rem; }
svg text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
</style></head><body>
<h1 id="title">attica</h1><p id="question"></p>
<main><form id="controls" autocomplete="off"></form><div id="view"><div class="buttons">
<button type="button" id="command">Copy command</button><button type="button" id="toml">Copy TOML</button>
<button type="button" id="python">Copy Python</button><button type="button" id="svg">Save SVG</button>
<button type="button" id="csv">Save CSV</button><button type="button" id="reset">Reset</button></div>
<p id="status" role="status">loading</p><div id="figures"></div></div></main>
<script nonce="@NONCE@">
"use strict";
const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#888888"];
const dashes = ["", "6,4", "2,3", "6,3,1,3", "11,4", "6,3,1,3,1,3"];
const $ = id => document.getElementById(id);
let study, values = {}, curves = [], busy = false, waiting = false;

const base = location.pathname.replace(/[^/]*$/, "");
async function ask(what, body) {
  const answer = await fetch(base + what, body === undefined ? {} :
    {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error);
  return json;
}
const changed = () => Object.fromEntries(study.parameters.filter(p => values[p.key] !== p.value).map(p => [p.key, values[p.key]]));
function say(text, wrong) { $("status").textContent = text; $("status").className = wrong ? "wrong" : ""; }

// ------------------------------------------------------------------- theory, one request at a time, the newest state
async function update() {
  for (const row of document.querySelectorAll(".row"))
    row.classList.toggle("changed", values[row.dataset.key] !== row.dataset.value);
  const state = changed();
  history.replaceState(null, "", Object.keys(state).length ? "#" + encodeURIComponent(JSON.stringify(state)) : base);
  if (busy) { waiting = true; return; }
  busy = true;
  const late = setTimeout(() => { $("figures").className = "old"; say("computing the theory ..."); }, 300);
  try {
    const start = performance.now(), answer = await ask("curves", state);
    curves = answer.series;
    draw();
    $("figures").className = "";
    say(`theory in ${Math.round(performance.now() - start)} ms` + (study.run ? `; points: ${study.run}` : "") +
      (study.run && Object.keys(state).some(k => !k.startsWith("sweep.")) ? " (at its own parameters)" : ""));
  } catch (error) { $("figures").className = "old"; say(error.message, true); }
  clearTimeout(late);
  busy = false;
  if (waiting) { waiting = false; update(); }
}

// ------------------------------------------------------------------------------------------------- controls
function control(p) {
  const row = document.createElement("div"), label = document.createElement("label");
  row.className = "row"; row.dataset.key = p.key; row.dataset.value = p.value; row.title = p.meaning + (p.range ? "; " + p.range : "");
  // A long name breaks after an underscore.
  label.textContent = (p.key.split(".").slice(1).join(".") || p.key).replaceAll("_", "_\u200b");
  row.append(label);
  const set = text => { values[p.key] = text; update(); };
  let box;
  if (p.choices.length && !p.list) {
    box = document.createElement("select");
    if (p.value === "") box.add(new Option("", ""));
    for (const word of p.choices) box.add(new Option(word, JSON.stringify(word)));
  } else if (p.type === "flag") {
    box = document.createElement("select");
    for (const word of ["true", "false"]) box.add(new Option(word, word));
  } else {
    box = document.createElement("input"); box.type = "text"; box.spellcheck = false;
  }
  box.id = p.key; label.htmlFor = p.key; box.value = p.value;
  box.addEventListener("change", () => { if (box.value !== values[p.key]) { slide(); set(box.value); } });
  row.append(box);
  const number = Number(p.value);
  let slide = () => {};
  if ((p.type === "real" || p.type === "integer") && !p.list && p.value !== "" && Number.isFinite(number)) {
    // Between the ends of its range where it has two; else a decade to each side, or around zero.
    const ends = p.low !== null && p.high !== null && p.high - p.low <= 100;
    const log = !ends && number > 0, steps = 400;
    const low = ends ? p.low : Math.max(log ? number / 10 : -1, p.low ?? -Infinity), high = ends ? p.high : Math.min(log ? number * 10 : 1, p.high ?? Infinity);
    const at = t => log ? low * (high / low) ** t : low + (high - low) * t;
    const where = v => log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
    const slider = document.createElement("input");
    slider.type = "range"; slider.min = 0; slider.max = steps; slider.className = "two"; slider.setAttribute("aria-label", p.key);
    slide = () => { slider.value = Math.round(steps * where(Number(box.value))); };
    slide();
    slider.addEventListener("input", () => {
      // The ends themselves are excluded where the range is open.
      const t = Math.min(Math.max(slider.value / steps, 0.5 / steps), 1 - 0.5 / steps);
      const v = p.type === "integer" ? Math.round(at(t)) : Number(at(t).toPrecision(3));
      box.value = String(v); set(box.value);
    });
    row.append(slider);
  }
  row.enter = text => { box.value = text; values[p.key] = text; slide(); };
  return row;
}
function controls() {
  const sections = {};
  for (const p of study.parameters) {
    const name = p.key.includes(".") ? p.key.split(".")[0] : "";
    if (!sections[name]) {
      sections[name] = document.createElement("fieldset");
      const legend = document.createElement("legend");
      legend.textContent = name || "study"; sections[name].append(legend);
      $("controls").append(sections[name]);
    }
    values[p.key] = p.value;
    sections[name].append(control(p));
  }
}

// --------------------------------------------------------------------------------------------------- drawing
const NS = "http://www.w3.org/2000/svg";
function add(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
/// Labels are gnuplot's enhanced text: italics, sub- and superscripts.
function label(parent, attributes, text) {
  const node = add(parent, "text", attributes);
  let i = 0, back = 0;
  function run(style, shift) {
    let plain = "";
    const put = () => {
      if (!plain) return;
      const span = add(node, "tspan", style, plain);
      if (shift - back) span.setAttribute("dy", shift - back);
      if (shift) span.setAttribute("font-size", "10"), span.setAttribute("style", "font-size:10px");
      back = shift; plain = "";
    };
    while (i < text.length && text[i] !== "}") {
      const c = text[i];
      if (c === "{") {
        put(); i += 1;
        let inner = style;
        if (text[i] === "/") {
          const end = text.indexOf(" ", i);
          if (text.slice(i, end).includes("Italic")) inner = {...style, "font-style": "italic"};
          i = end + 1;
        }
        run(inner, shift); i += 1;
      } else if (c === "_" || c === "^") {
        put(); i += 1;
        const to = shift + (c === "_" ? 4 : -5);
        if (text[i] === "{") { i += 1; run(style, to); i += 1; }
        else { plain = text[i++]; const old = shift; shift = to; put(); shift = old; }
      } else { if (c === "\\") i += 1; plain += text[i]; i += 1; }
    }
    put();
  }
  while (i < text.length) { run({}, 0); i += 1; }
  return node;
}
const pretty = v => { const s = Number(v.toPrecision(4)); return Math.abs(s) >= 1e5 || (s && Math.abs(s) < 1e-3) ? s.toExponential() : String(s); };
function ticks(axis) {
  if (axis.log) {
    const first = Math.ceil(Math.log10(axis.low) - 1e-9), last = Math.floor(Math.log10(axis.high) + 1e-9), all = [];
    const step = Math.max(1, Math.ceil((last - first) / 6));
    for (let e = first; e <= last; e += step) all.push(10 ** e);
    if (all.length < 2) for (let e = first - 1; e <= last + 1; ++e) for (const m of [2, 5]) all.push(m * 10 ** e);
    return all.filter(v => v >= axis.low * (1 - 1e-9) && v <= axis.high * (1 + 1e-9)).sort((a, b) => a - b);
  }
  const raw = (axis.high - axis.low) / 6, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw), all = [];
  for (let k = Math.ceil(axis.low / step - 1e-9); k * step <= axis.high + 1e-9 * step; ++k) all.push(k * step);
  return all;
}
function range(numbers, axis, whole) {
  const log = axis.scale === "log", shown = numbers.filter(v => Number.isFinite(v) && (!log || v > 0));
  let low = Math.min(...shown), high = Math.max(...shown);
  if (!shown.length) { low = log ? 1 : 0; high = log ? 10 : 1; }
  if (low === high) { low = log ? low / 2 : low - (Math.abs(low) / 4 || 1); high = log ? high * 2 : high + (Math.abs(high) / 4 || 1); }
  const room = log ? (high / low) ** .05 : .05 * (high - low);
  low = axis.low ?? (log ? low / room : low - room); high = axis.high ?? (log ? high * room : high + room);
  return {low, high, log, at: v => log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low)};
}
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const spoken = point => Object.entries(point).map(([k, v]) => `${k} = ${typeof v === "number" ? pretty(v) : v}`).join(", ");
function matches(layer, panel, s) {
  return s.name === layer.series && s.x.length && (!panel.x_name || s.x_name === panel.x_name || s.x_name === "none") &&
    Object.entries(layer.only).every(([k, v]) => s.point[k] === v);
}
let panelNumber = 0;
function draw() {
  const figures = $("figures");
  figures.textContent = "";
  for (const panel of study.panels) drawPanel(figures, panel);
}
function drawPanel(parent, panel) {
  const W = 640, left = 74, right = 14, points = [], lines = [], legend = [];
  const places = [];
  panel.layers.forEach((layer, number) => {
    const style = s => {
      const key = {...s.point};
      let k = places.findIndex(p => same(p, key));
      if (k < 0) k = places.push(key) - 1;
      return layer.reference ? {colour: "#888888", dash: "6,5"} : {colour: colours[k % colours.length], dash: dashes[(k + 2 * number) % dashes.length], hollow: number % 2};
    };
    const own = [];
    if (layer.theory) for (const s of curves) if (matches(layer, panel, s)) { const t = style(s); lines.push([s, t]); own.push([s, t]); }
    if (layer.simulation) for (const s of study.recorded) if (matches(layer, panel, s)) { const t = style(s); points.push([s, t]); if (!own.some(([o]) => same(o.point, s.point))) own.push([s, t]); }
    for (const [s, t] of own) {
      const words = [panel.layers.length > 1 ? s.name.replaceAll("_", " ") : "", spoken(s.point)].filter(w => w).join(", ");
      if (words) legend.push([words, t]);
    }
  });
  const shown = legend.slice(0, 24), rows = Math.ceil(shown.length / 2), H0 = 20 * rows + 12, H = H0 + 330, bottom = 52;
  const svg = add(parent, "svg", {viewBox: `0 0 ${W} ${H}`, xmlns: NS, role: "img", "aria-label": "theory"});
  const frame = {l: left, r: W - right, t: H0, b: H - bottom}, clip = `clip${++panelNumber}`;
  const all = [...lines, ...points].map(([s]) => s);
  const x = range([...all.filter(s => s.x_name !== "none").flatMap(s => s.x), ...panel.vertical], panel.x);
  const y = range([...all.flatMap(s => s.y), ...points.flatMap(([s]) => s.y.map((v, i) => v + s.sem[i])),
    ...points.flatMap(([s]) => s.y.map((v, i) => v - s.sem[i])).filter(v => panel.y.scale !== "log")], panel.y);
  const X = v => frame.l + x.at(v) * (frame.r - frame.l), Y = v => frame.b - y.at(v) * (frame.b - frame.t);
  const ok = (u, v) => (!x.log || u > 0) && (!y.log || v > 0);
  const ink = {stroke: "currentColor", fill: "none"};
  for (const v of ticks(x)) { add(svg, "path", {...ink, d: `M${X(v)} ${frame.b}v-5`}); add(svg, "text", {x: X(v), y: frame.b + 17, "text-anchor": "middle"}, pretty(v)); }
  for (const v of ticks(y)) { add(svg, "path", {...ink, d: `M${frame.l} ${Y(v)}h5`}); add(svg, "text", {x: frame.l - 6, y: Y(v) + 4, "text-anchor": "end"}, pretty(v)); }
  add(add(svg, "clipPath", {id: clip}), "rect", {x: frame.l, y: frame.t, width: frame.r - frame.l, height: frame.b - frame.t});
  const g = add(svg, "g", {"clip-path": `url(#${clip})`});
  for (const v of panel.vertical) add(g, "path", {d: `M${X(v)} ${frame.t}V${frame.b}`, stroke: "#888", "stroke-dasharray": "2,4"});
  // The margin that the run declared, at each compared point.
  for (const [s, t] of points) s.x.forEach((u, i) => {
    if (!s.margin[i] || !ok(u, s.theory[i])) return;
    const low = s.theory[i] - s.margin[i], top = Y(s.theory[i] + s.margin[i]), end = y.log && low <= 0 ? frame.b : Y(low);
    add(g, "rect", {x: X(u) - 9, y: top, width: 18, height: Math.max(0, end - top), fill: t.colour, opacity: .25});
  });
  for (const [s, t] of lines) {
    const constant = s.x_name === "none", us = constant ? [x.low, x.high] : s.x, vs = constant ? [s.y[0], s.y[0]] : s.y;
    let d = "", pen = false;
    us.forEach((u, i) => { if (!ok(u, vs[i])) { pen = false; return; } d += `${pen ? "L" : "M"}${X(u).toFixed(2)} ${Y(vs[i]).toFixed(2)}`; pen = true; });
    const path = add(g, "path", {d, fill: "none", stroke: t.colour, "stroke-width": 1.8, "stroke-dasharray": t.dash, "data-series": s.name});
    add(path, "title", {}, `theory ${s.name} ${spoken(s.point)}`);
    if (us.length === 1 && ok(us[0], vs[0])) add(g, "path", {d: `M${X(us[0]) - 8} ${Y(vs[0])}h16`, stroke: t.colour, "stroke-width": 1.8});
  }
  let hidden = 0;
  for (const [s, t] of points) s.x.forEach((u, i) => {
    const constant = s.x_name === "none", v = s.y[i];
    if (!ok(constant ? x.high : u, v)) { ++hidden; return; }
    const at = constant ? frame.r - 10 : X(u), low = v - s.sem[i];
    add(g, "path", {d: `M${at} ${Y(v + s.sem[i])}V${y.log && low <= 0 ? frame.b : Y(low)}`, stroke: t.colour});
    const dot = add(g, "circle", {cx: at, cy: Y(v), r: 3.2, fill: t.hollow ? "none" : t.colour, stroke: t.colour});
    add(dot, "title", {}, `simulation ${s.name} ${spoken(s.point)}: ${s.x_name} = ${u}, ${v} ± ${s.sem[i]}`);
  });
  add(svg, "rect", {...ink, x: frame.l, y: frame.t, width: frame.r - frame.l, height: frame.b - frame.t});
  label(svg, {x: (frame.l + frame.r) / 2, y: H - 14, "text-anchor": "middle"}, panel.x.label);
  label(svg, {x: 0, y: 0, "text-anchor": "middle", transform: `translate(16 ${(frame.t + frame.b) / 2}) rotate(-90)`}, panel.y.label);
  shown.forEach(([words, t], k) => {
    const lx = left + (k % 2) * (W - left) / 2, ly = 14 + 20 * Math.floor(k / 2);
    add(svg, "path", {d: `M${lx} ${ly - 4}h26`, stroke: t.colour, "stroke-width": 1.8, "stroke-dasharray": t.dash});
    add(svg, "text", {x: lx + 32, y: ly}, words);
  });
  const rest = [legend.length > shown.length ? `${legend.length - shown.length} more curves` : "", hidden ? `${hidden} points <= 0, not on the log axis` : ""].filter(w => w).join("; ");
  if (rest) add(svg, "text", {x: frame.r, y: H - 2, "text-anchor": "end"}, rest);
}

// ----------------------------------------------------------------------------------------------- taking it along
const shell = text => /^[\w./=:+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
const asCommand = () => ["attica theory", shell(study.target), ...study.arguments.map(shell), ...Object.entries(changed()).map(([k, v]) => "--set " + shell(`${k}=${v}`))].join(" ");
function asToml() {
  const sections = {};
  for (const p of study.parameters) if (values[p.key] !== "") {
    const [section, ...rest] = p.key.includes(".") ? p.key.split(".") : ["", p.key];
    (sections[section] ??= []).push(`${rest.join(".")} = ${values[p.key]}`);
  }
  return `study = "${study.study}"\n` + Object.entries(sections).map(([s, l]) => (s ? `\n[${s}]\n` : "") + l.join("\n") + "\n").join("");
}
const python = v => v === "true" ? "True" : v === "false" ? "False" : v.startsWith("{") ? v.replace(/(\w+) *=/g, '"$1":') : v;
function asPython() {
  const shown = study.parameters.filter(p => values[p.key] !== p.fallback && values[p.key] !== "");
  return `attica.theory("${study.study}"` + (shown.length ? ", **{" + shown.map(p => `"${p.key}": ${python(values[p.key])}`).join(", ") + "}" : "") + ")";
}
async function copy(text) {
  try { await navigator.clipboard.writeText(text); say("copied: " + text); }
  catch { window.prompt("Copy:", text); }
}
function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name; link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function svgFile() {
  const copies = [...document.querySelectorAll("#figures svg")], height = copies.reduce((h, s) => h + s.viewBox.baseVal.height, 0);
  let y = 0, text = "";
  for (const svg of copies) { text += `<g transform="translate(0 ${y})">${svg.innerHTML}</g>`; y += svg.viewBox.baseVal.height; }
  return `<svg xmlns="${NS}" viewBox="0 0 640 ${height}" width="640" height="${height}" color="#000" style="background:#fff"><style>text{font:13px "DejaVu Sans",sans-serif}</style>${text}</svg>\n`;
}
async function csvFile() {
  const rows = (await ask("theory", changed())).series, names = [...new Set(rows.flatMap(s => Object.keys(s.point)))];
  const quote = v => /[",\n]/.test(v) ? '"' + String(v).replaceAll('"', '""') + '"' : String(v ?? "");
  return ["series," + names.map(n => quote(n) + ",").join("") + "x_name,x,value"].concat(rows.flatMap(s => s.x.map((x, i) =>
    [s.name, ...names.map(n => s.point[n]), s.x_name, x, s.y[i]].map(quote).join(",")))).join("\n") + "\n";
}
function enter(state) {
  for (const row of document.querySelectorAll(".row")) row.enter(state[row.dataset.key] ?? row.dataset.value);
}
function fromAddress() {
  try { return JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}"); } catch { return {}; }
}
(async () => {
  try {
    study = await ask("study.json");
    $("title").textContent = study.study; $("question").textContent = study.question; document.title = "attica explore " + study.study;
    controls(); enter(fromAddress());
    $("command").onclick = () => copy(asCommand()); $("toml").onclick = () => copy(asToml()); $("python").onclick = () => copy(asPython());
    $("svg").onclick = () => save(study.study + ".svg", svgFile(), "image/svg+xml");
    $("csv").onclick = async () => { try { save(study.study + ".csv", await csvFile(), "text/csv"); } catch (e) { say(e.message, true); } };
    $("reset").onclick = () => { enter({}); update(); };
    window.addEventListener("hashchange", () => { enter(fromAddress()); update(); });
    $("controls").addEventListener("submit", e => e.preventDefault());
    update();
  } catch (error) { say(error.message, true); }
})();
</script></body></html>
)PAGE";

}  // namespace

std::string_view explore_page() { return kPage; }

}  // namespace attica::app
