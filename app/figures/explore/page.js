"use strict";
// The page of `attica explore`. It is served by the program, which computes the theory at the values of the controls and
// carries out runs; or it is a file (--export) that holds the theory on a grid of some parameters.

const $ = id => document.getElementById(id);
const element = (name, type, text) => { const node = document.createElement(name); node.className = type; node.textContent = text ?? ""; return node; };
const exported = JSON.parse($("data").textContent);
let study, values = {}, curves = [], overlays = [], busy = false, waiting = false;

// ------------------------------------------------------------------------------------------------ the program's answers
const base = location.pathname.replace(/[^/]*$/, "");
async function ask(what, body) {
  const answer = await fetch(base + what, body === undefined ? {} :
    {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error);
  return json;
}
const computed = key => exported.grid.find(g => g.key === key);
const number = text => { const v = Number(text); return text.trim() === "" || !Number.isFinite(v) ? NaN : v; };
/// Which of the computed values is nearest to what is asked for.
function nearest(list, text) {
  if (list.includes(text)) return list.indexOf(text);
  const wanted = number(text);
  if (Number.isNaN(wanted)) throw new Error(`'${text}' is not a number`);
  return list.reduce((best, v, k) => Math.abs(v - wanted) < Math.abs(list[best] - wanted) ? k : best, 0);
}
function fromFile() {
  let index = 0;
  const words = exported.grid.map(({key, values: list}) => {
    const k = nearest(list, values[key]);
    index = index * list.length + k;
    const asked = number(values[key]), shown = number(list[k]), same = list[k] === values[key] || Math.abs(asked - shown) <= 1e-9 * Math.max(Math.abs(asked), Math.abs(shown));
    return `${key} = ${brief(list[k])}` + (same ? "" : ` (asked for ${values[key]})`);
  });
  $("nearest").textContent = words.length ? "nearest computed curve: " + words.join(", ") : "";
  const theory = exported.theories[index];
  if (theory.error) throw new Error(theory.error);
  return theory.series.map(s => ({...s, x: exported.x[s.x]}));
}

/// The theory, of which the newest states are kept.
const kept = new Map();
async function served(state) {
  const key = JSON.stringify(state), series = kept.get(key) ?? (await ask("curves", state)).series;
  kept.delete(key); kept.set(key, series);
  if (kept.size > 64) kept.delete(kept.keys().next().value);
  return series;
}

/// Whether another parameter's word leaves this one without a meaning.
function excluded(p) {
  if (!p.used_with) return false;
  const word = values[p.used_with.key];
  return word !== undefined && !p.used_with.words.some(w => JSON.stringify(w) === word);
}
const used = () => study.parameters.filter(p => !excluded(p));
const changed = () => Object.fromEntries(used().filter(p => values[p.key] !== p.value).map(p => [p.key, values[p.key]]));
function say(text, wrong) { $("status").textContent = text; $("status").className = wrong ? "wrong" : ""; }
const guarded = action => async () => { try { await action(); } catch (error) { say(error.message, true); } };

// ---------------------------------------------------------------------- theory, one request at a time, the newest state
async function update() {
  for (const row of document.querySelectorAll(".row")) {
    row.classList.toggle("changed", values[row.dataset.key] !== row.dataset.value);
    row.enable();
  }
  const state = changed();
  // In a notebook's cell the page has no address of its own.
  try { history.replaceState(null, "", Object.keys(state).length ? "#" + encodeURIComponent(JSON.stringify(state)) : location.pathname + location.search); } catch { /* goes on without */ }
  if (busy) { waiting = true; return; }
  busy = true;
  const start = performance.now(), seconds = () => (performance.now() - start) / 1000;
  const late = setInterval(() => {
    if (seconds() < .3) return;
    $("figures").className = "old"; say(`computing the theory ... ${seconds().toFixed(1)} s`);
  }, 100);
  try {
    const known = exported || kept.has(JSON.stringify(state));
    curves = exported ? fromFile() : await served(state);
    draw();
    $("figures").className = "";
    const moved = Object.keys(state).some(k => !k.startsWith("sweep."));
    say([known ? "" : `theory in ${Math.round(1000 * seconds())} ms`, overlays.length && moved ? "the points keep their own parameters" : ""].filter(w => w).join("; "));
  } catch (error) { $("figures").className = "old"; say(error.message, true); }
  clearInterval(late);
  busy = false;
  if (waiting) { waiting = false; update(); }
}

// ---------------------------------------------------------------------------------------------------------- controls
/// How a slider's steps 0..steps and a parameter's values belong together; none where a box must do.
function scale(p) {
  if (exported) {
    const list = computed(p.key)?.values;
    return list && list.length > 1 && {steps: list.length - 1, at: k => list[k], where: text => nearest(list, text)};
  }
  const value = number(p.value), steps = 400;
  if (p.type !== "real" && p.type !== "integer" || p.list || Number.isNaN(value)) return null;
  // Between the ends of its range where it has two; else a decade to each side, or around zero.
  const ends = p.low !== null && p.high !== null && p.high - p.low <= 100, log = !ends && value > 0;
  const low = ends ? p.low : Math.max(log ? value / 10 : -1, p.low ?? -Infinity);
  const high = ends ? p.high : Math.min(log ? value * 10 : 1, p.high ?? Infinity);
  return {
    steps,
    at(k) {
      // The ends themselves are excluded where the range is open.
      const t = Math.min(Math.max(k / steps, .5 / steps), 1 - .5 / steps), v = log ? low * (high / low) ** t : low + (high - low) * t;
      return String(p.type === "integer" ? Math.round(v) : Number(v.toPrecision(3)));
    },
    where: text => Math.round(steps * (log ? Math.log(text / low) / Math.log(high / low) : (text - low) / (high - low))),
  };
}
/// Numbers of many digits are shown with six; the values themselves stay as they are.
const brief = text => text.replace(/-?\d+\.\d{7,}(e[-+]?\d+)?/gi, digits => String(Number(Number(digits).toPrecision(6))));
function control(p) {
  const row = element("div", "row"), label = element("label", ""), help = element("button", "help", "?"), meaning = element("p", "meaning", p.meaning + (p.range ? "; " + p.range : ""));
  row.dataset.key = p.key; row.dataset.value = p.value;
  // A long name breaks after an underscore.
  label.textContent = (p.key.split(".").slice(1).join(".") || p.key).replaceAll("_", "_\u200b");
  help.type = "button"; help.setAttribute("aria-label", `meaning of ${p.key}`); help.setAttribute("aria-expanded", "false"); help.setAttribute("aria-controls", meaning.id = "meaning of " + p.key);
  meaning.hidden = true;
  help.addEventListener("click", () => { meaning.hidden = !meaning.hidden; help.setAttribute("aria-expanded", String(!meaning.hidden)); });
  const name = element("div", "name");
  name.append(label, help);
  row.append(name);
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
  const shown = text => box.tagName === "INPUT" ? brief(text) : text;
  box.id = p.key; label.htmlFor = p.key; box.value = shown(p.value);
  if (p.meaning) box.setAttribute("aria-describedby", meaning.id);
  row.append(box);
  const steps = scale(p);
  let slide = () => {}, slider = null;
  if (steps) {
    slider = document.createElement("input");
    slider.type = "range"; slider.min = 0; slider.max = steps.steps; slider.className = "two"; slider.setAttribute("aria-label", p.key);
    slide = () => { try { slider.value = steps.where(values[p.key]); } catch { /* the box holds no number: the figure says so */ } };
    slider.addEventListener("input", () => { const text = steps.at(Number(slider.value)); box.value = shown(text); slider.ariaValueText = box.value; set(text); });
    row.append(slider);
  }
  row.append(meaning);
  box.addEventListener("change", () => { if (box.value !== shown(values[p.key])) { set(box.value); slide(); } });
  row.enter = text => { box.value = shown(text); values[p.key] = text; slide(); };
  row.enable = () => {
    const out = excluded(p), off = out || Boolean(exported && !computed(p.key));
    box.disabled = off;
    if (slider) slider.disabled = off;
    row.classList.toggle("excluded", out);
    meaning.textContent = p.meaning + (p.range ? "; " + p.range : "") + (out ? `. Not used with ${p.used_with.key} = ${values[p.used_with.key]}` : "");
  };
  row.enter(p.value);
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
    sections[name].append(control(p));
  }
}

// ------------------------------------------------------------------------------------------------------------- text
/// Labels are gnuplot's enhanced text: italics, sub- and superscripts.
function enhanced(parent, text) {
  let i = 0;
  function run(into) {
    while (i < text.length && text[i] !== "}") {
      const c = text[i];
      if (c === "{") {
        i += 1;
        let inner = into;
        if (text[i] === "/") {
          const end = text.indexOf(" ", i);
          if (text.slice(i, end).includes("Italic")) into.append(inner = document.createElement("i"));
          i = end + 1;
        }
        run(inner); i += 1;
      } else if (c === "_" || c === "^") {
        i += 1;
        const shifted = document.createElement(c === "_" ? "sub" : "sup");
        into.append(shifted);
        if (text[i] === "{") { i += 1; run(shifted); i += 1; } else shifted.append(text[i++]);
      } else { if (c === "\\") i += 1; into.append(text[i] ?? ""); i += 1; }
    }
  }
  while (i < text.length) { run(parent); i += 1; }
  return parent;
}
const pretty = v => { const s = Number(v.toPrecision(4)); return Math.abs(s) >= 1e5 || (s && Math.abs(s) < 1e-3) ? s.toExponential() : String(s); };
/// Names and values as in figures: Greek letters for their names, single letters italic.
const escaped = text => String(text).replace(/[\\_^{}@&~]/g, "\\$&");
const symbol = name => study.letters[name] ? `{/:Italic ${study.letters[name]}}` : name.length === 1 ? `{/:Italic ${name}}` : escaped(name.replaceAll("_", " "));
const spoken = point => Object.entries(point).map(([k, v]) => `${symbol(k)} = ${typeof v === "number" ? pretty(v) : escaped(v)}`).join(", ");
const power = v => {
  const e = Math.round(Math.log10(v));
  return Math.abs(e) > 3 && Math.abs(v / 10 ** e - 1) < 1e-9 ? "10" + String(e).replace(/./g, c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]) : pretty(v);
};

// ------------------------------------------------------------------------------------------------------------- charts
// Colours as in plots/theme.cpp, darker where those are too pale for a screen, and lighter ones for a dark page; deuteranopes
// and protanopes tell any two of them apart, which tests/cases/e-explore-looks computes.
const dark = matchMedia("(prefers-color-scheme: dark)");
const palettes = {light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6E5200", "#2F9BD8", "#555555"], dark: ["#4DB1EE", "#FF8A47", "#2FCFA0", "#E79CC6", "#F7DD72", "#A9DCF8", "#808080"]};
const dashes = [[], [6, 4], [2, 3], [6, 3, 1, 3], [11, 4], [6, 3, 1, 3, 1, 3], [11, 3, 2, 3], [3, 6], [11, 3, 2, 3, 2, 3], [1, 5], [16, 3]];
const colour = k => { const p = palettes[dark.matches ? "dark" : "light"]; return p[k % p.length]; };
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/// Whether a curve's axis and coordinates are those of a layer. A table of one's own may leave out the name of x, and the
/// name of the series where there is one: then it belongs to the first panel's first layer.
function matches(layer, panel, s, place) {
  const named = s.name === layer.series || s.name === "y" && s.x_name === "" && place === 0;
  return named && s.x.length && (!panel.x_name || s.x_name === panel.x_name || s.x_name === "none" || s.x_name === "") &&
    Object.entries(layer.only).every(([k, v]) => s.point[k] === v || s.name === "y");
}
const sameCoordinate = (a, b) => a === b || typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
const samePoint = (a, b) => Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([k, v]) => sameCoordinate(v, b[k]));

/// The curves and points of a panel, with the looks they have in all panels: {series, theory, own, look, words}.
function contents(panel, panelNumber) {
  const places = [], result = [];
  // A table of one's own may leave coordinates out: it belongs to the one curve that it can mean.
  const place = (point, own) => {
    let k = places.findIndex(p => samePoint(p, point));
    if (k >= 0) return k;
    const possible = places.map((p, i) => [p, i]).filter(([p]) => Object.entries(point).every(([name, v]) => sameCoordinate(p[name], v)));
    return own && possible.length === 1 ? possible[0][1] : places.push(point) - 1;
  };
  const layers = Math.max(1, panel.layers.filter(layer => !layer.reference).length);
  panel.layers.forEach((layer, number) => {
    const words = s => [panel.layers.length > 1 ? symbol(s.name) : "", spoken(s.point)].filter(w => w).join(", ") || symbol(s.name);
    // Colour and dash change together: 7 and 11 of them tell 77 curves apart, in grey 11. Of several layers the colour is the
    // point's and the dash the curve's own.
    const look = (s, own) => {
      const k = place(s.point, own);
      return layer.reference ? {colour: 6, dash: [6, 5]} : {colour: k % 7, dash: dashes[(layers * k + number) % dashes.length], hollow: number % 2};
    };
    if (layer.theory) for (const s of curves) if (matches(layer, panel, s, panelNumber + number)) result.push({series: s, theory: true, look: look(s), words: words(s)});
    if (layer.simulation) overlays.forEach((overlay, k) => {
      for (const s of overlay.series) if (matches(layer, panel, s, panelNumber + number))
        result.push({series: s, theory: false, look: {...look(s, true), shape: k}, words: `${words(s)} (${escaped(overlay.label.split(",")[0])})`});
    });
  });
  return result;
}

function range(numbers, axis) {
  const log = axis.scale === "log", shown = numbers.filter(v => Number.isFinite(v) && (!log || v > 0));
  let low = Infinity, high = -Infinity;
  for (const v of shown) { low = Math.min(low, v); high = Math.max(high, v); }
  if (!shown.length) { low = log ? 1 : 0; high = log ? 10 : 1; }
  if (low === high) { low = log ? low / 2 : low - (Math.abs(low) / 4 || 1); high = log ? high * 2 : high + (Math.abs(high) / 4 || 1); }
  const room = log ? (high / low) ** .04 : .04 * (high - low);
  low = axis.low ?? (log ? low / room : low - room); high = axis.high ?? (log ? high * room : high + room);
  return low < high ? [low, high] : log ? [high / 10, high] : [high - 1, high];
}
function ticks(low, high, log) {
  const all = [];
  if (log) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9), step = Math.max(1, Math.ceil((last - first) / 6));
    for (let e = first; e <= last; e += step) all.push(10 ** e);
    if (all.length < 2) for (let e = first - 1; e <= last + 1; ++e) for (const m of [2, 5]) all.push(Number((m * 10 ** e).toPrecision(3)));
    const kept = all.filter(v => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)).sort((a, b) => a - b);
    if (kept.length > 2) return kept;
    all.length = 0;
  }
  const raw = (high - low) / 6, unit = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(m => m * unit).find(s => s >= raw);
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) all.push(Number((k * step).toPrecision(12)));
  return all;
}

/// A panel of the figure: what is drawn (`content`), where (`zoom` or `whole`), and the chart that does it.
class Chart {
  constructor(panel, number) {
    this.panel = panel; this.number = number; this.hidden = new Set(); this.zoom = null; this.shape = "";
    this.node = element("section", "panel");
    this.node.append(enhanced(element("div", "y"), panel.y.label), this.place = element("div", "chart"), enhanced(element("div", "x"), panel.x.label),
      this.legend = element("div", "legend"), this.note = element("div", "note"), this.spoken = element("div", "hidden-label"));
    this.node.append(this.zooms());
    this.place.tabIndex = 0;
    this.place.setAttribute("role", "application");
    this.place.setAttribute("aria-label", `chart of ${this.node.firstChild.textContent} against ${this.node.children[2].textContent}; arrow keys read it, + and - zoom, 0 shows all of it`);
    this.spoken.setAttribute("aria-live", "polite");
    this.place.addEventListener("keydown", event => this.key(event));
    this.place.addEventListener("dblclick", () => this.show(null));
    $("figures").append(this.node);
    new ResizeObserver(() => this.chart && this.chart.setSize(this.size())).observe(this.place);
  }
  size() { return {width: Math.max(200, this.place.clientWidth), height: matchMedia("(max-width: 50rem)").matches ? 230 : 320}; }
  show(zoom) { this.zoom = zoom; this.chart.setData(this.data); }
  /// Larger and smaller, for who has no mouse.
  zooms() {
    const group = element("div", "zoom");
    for (const [sign, name, act] of [["+", "enlarge", () => this.scaled(1 / 1.6)], ["\u2212", "reduce", () => this.scaled(1.6)], ["0", "show all", () => this.show(null)]]) {
      const button = element("button", "", sign);
      button.type = "button"; button.title = name; button.setAttribute("aria-label", `${name}: ${this.node.firstChild.textContent}`);
      button.addEventListener("click", act);
      group.append(button);
    }
    return group;
  }
  /// Enlarged or reduced about the cursor, or about the middle; never beyond all of it.
  scaled(factor) {
    const now = this.zoom ?? this.whole, index = this.chart.cursor.idx, zoom = {};
    const at = {x: index === null || index === undefined ? undefined : this.data[0][index]};
    at.y = at.x === undefined ? undefined : this.data.slice(1).map((column, i) => this.hidden.has(this.content[i].words) ? undefined : column[index]).find(Number.isFinite);
    for (const k of ["x", "y"]) {
      const log = this.panel[k].scale === "log", [to, from] = log ? [Math.log, Math.exp] : [v => v, v => v];
      const [low, high] = now[k].map(to), [least, most] = this.whole[k].map(to), centre = at[k] >= now[k][0] && at[k] <= now[k][1] ? to(at[k]) : (low + high) / 2;
      zoom[k] = [centre + (low - centre) * factor, centre + (high - centre) * factor];
      // What would lie beyond all of it is shown at the other end.
      const shift = Math.max(0, least - zoom[k][0]) || Math.min(0, most - zoom[k][1]);
      zoom[k] = zoom[k].map(v => Math.min(most, Math.max(least, v + shift)));
      if (zoom[k][1] - zoom[k][0] < 1e-9 * (most - least)) return;
      zoom[k] = zoom[k].map(from);
    }
    const all = ["x", "y"].every(k => zoom[k].every((v, i) => Math.abs(v - this.whole[k][i]) <= 1e-12 * Math.abs(v)));
    this.show(all ? null : zoom);
  }

  /// One column for x and one for every curve, on all x together; undefined where a curve has no value there, null where it
  /// cannot be drawn. Constants go from end to end.
  table(content) {
    const {panel} = this, logX = panel.x.scale === "log", logY = panel.y.scale === "log";
    const constant = c => c.series.x_name === "none";
    const shown = content.filter(c => !this.hidden.has(c.words));
    const own = c => c.series.x.filter(u => !logX || u > 0);
    const ends = range([...content.filter(c => !constant(c)).flatMap(c => c.series.x), ...panel.vertical], panel.x);
    this.whole = {x: ends, y: range(shown.flatMap(c => c.theory ? c.series.y : c.series.y.flatMap((v, i) =>
      [v + c.series.sem[i], ...(logY && v <= c.series.sem[i] ? [v] : [v - c.series.sem[i]])])), panel.y)};
    const xs = [...new Set([...content.filter(c => !constant(c)).flatMap(own), ...(content.some(constant) ? ends : [])])].sort((a, b) => a - b);
    const at = new Map(xs.map((x, i) => [x, i]));
    const ok = v => Number.isFinite(v) && (!logY || v > 0) ? v : null;
    this.missing = 0; this.cut = false;
    return [xs, ...content.map(c => {
      const column = new Array(xs.length).fill(undefined);
      if (constant(c)) { if (c.theory) column.fill(ok(c.series.y[0])); else column[xs.length - 1] = ok(c.series.y[0]); }
      else c.series.x.forEach((u, i) => { if (at.has(u)) column[at.get(u)] = ok(c.series.y[i]); });
      const lost = c.series.y.filter((v, i) => ok(v) === null || logX && c.series.x[i] <= 0 && !constant(c)).length;
      if (c.theory) this.cut ||= lost > 0; else this.missing += lost;
      return column;
    })];
  }

  draw() {
    this.content = contents(this.panel, this.number);
    this.data = this.table(this.content);
    const shape = JSON.stringify([this.content.map(c => [c.words, c.theory, c.look, c.series.x.length === 1])]);
    if (shape !== this.shape) { this.shape = shape; this.build(); } else this.chart.setData(this.data);
    this.node.classList.toggle("empty", !this.content.length);
    this.note.textContent = this.content.length ? this.remark() : "no theory is drawn here: the points of a run are";
  }
  remark() {
    const what = [this.missing ? `${this.missing} points` : "", this.cut ? "part of the theory" : ""].filter(w => w).join(" and ");
    const log = this.panel.x.scale === "log" || this.panel.y.scale === "log";
    return what ? `${what} ${log ? "<= 0 or " : ""}not finite, not drawn` : "";
  }

  build() {
    if (this.chart) this.chart.destroy();
    const {panel} = this, axis = (a, k) => ({
      scale: k, stroke: () => css("--ink"), font: '12px system-ui, "DejaVu Sans", sans-serif', size: k === "x" ? 32 : 62, gap: 4,
      grid: {stroke: () => css("--grid"), width: 1}, ticks: {stroke: () => css("--faint"), width: 1, size: 5},
      splits: (u, i, low, high) => ticks(low, high, a.scale === "log"),
      filter: (u, splits) => splits, values: (u, splits) => splits.map(a.scale === "log" ? power : pretty),
    });
    const distribution = a => a.scale === "log" ? {distr: 3, log: 10} : {distr: 1};
    this.chart = new uPlot({
      ...this.size(), legend: {show: false}, padding: [10, 14, 0, 0],
      scales: {x: {time: false, ...distribution(panel.x), range: () => (this.zoom ?? this.whole).x},
               y: {...distribution(panel.y), range: () => (this.zoom ?? this.whole).y}},
      axes: [axis(panel.x, "x"), axis(panel.y, "y")],
      cursor: {drag: {x: true, y: true, uni: 30, setScale: false}, points: {show: false}, bind: {dblclick: () => null}},
      series: [{}, ...this.content.map(c => ({
        label: c.words, scale: "y", show: !this.hidden.has(c.words), stroke: () => colour(c.look.colour), width: 1.9, pxAlign: 0, dash: c.look.dash,
        points: {show: false}, ...(c.theory ? {} : {paths: () => null})}))],
      hooks: {drawAxes: [u => this.under(u)], draw: [u => this.over(u)], setCursor: [u => this.read(u.cursor.idx)], setSelect: [u => this.select(u)]},
    }, this.data, this.place);
    this.entries();
  }

  entries() {
    this.legend.textContent = "";
    this.content.forEach((c, i) => {
      const entry = element("button", ""), mark = element("canvas", "");
      entry.type = "button"; entry.title = "show or hide";
      entry.setAttribute("aria-pressed", String(!this.hidden.has(c.words)));
      entry.addEventListener("click", () => {
        this.hidden.has(c.words) ? this.hidden.delete(c.words) : this.hidden.add(c.words);
        this.shape = ""; this.draw();
        this.legend.children[i]?.focus();
      });
      mark.width = 72; mark.height = 24; mark.style.width = "36px"; mark.style.height = "12px";
      const ctx = mark.getContext("2d");
      ctx.scale(2, 2);
      if (c.theory) {
        Object.assign(ctx, {strokeStyle: colour(c.look.colour), lineWidth: 2});
        ctx.setLineDash(c.look.dash); ctx.beginPath(); ctx.moveTo(0, 6); ctx.lineTo(36, 6); ctx.stroke();
      } else this.mark(ctx, 18, 6, 4, c.look);
      entry.append(mark, enhanced(element("span", ""), c.words), element("output", ""));
      this.legend.append(entry);
    });
  }

  /// Circles, squares, triangles, diamonds: one for every run or table.
  mark(ctx, x, y, r, look) {
    ctx.beginPath();
    const corners = [0, 4, 3, 4][look.shape % 4], turn = [0, Math.PI / 4, -Math.PI / 2, 0][look.shape % 4];
    if (!corners) ctx.arc(x, y, r, 0, 2 * Math.PI);
    for (let k = 0; k < corners; ++k) ctx[k ? "lineTo" : "moveTo"](x + 1.25 * r * Math.cos(turn + 2 * Math.PI * k / corners), y + 1.25 * r * Math.sin(turn + 2 * Math.PI * k / corners));
    ctx.closePath();
    ctx.strokeStyle = colour(look.colour); ctx.lineWidth = r / 3;
    ctx.fillStyle = look.hollow ? css("--paper") : colour(look.colour);
    ctx.fill(); ctx.stroke();
  }
  inside(u, action) {
    const {ctx, bbox} = u;
    ctx.save(); ctx.beginPath(); ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height); ctx.clip();
    action(ctx, devicePixelRatio, (v, k) => u.valToPos(v, k, true));
    ctx.restore();
  }
  visible(theory) { return this.content.filter(c => c.theory === theory && !this.hidden.has(c.words)); }
  /// Where a point stands: a constant at the right end.
  across(c, u, at, bbox, ratio) { return c.series.x_name === "none" ? bbox.left + bbox.width - 12 * ratio : at(u, "x"); }

  /// Beneath the curves: marked x, and the margin that a run declared at each compared point.
  under(u) {
    const logX = this.panel.x.scale === "log", logY = this.panel.y.scale === "log";
    this.inside(u, (ctx, ratio, at) => {
      Object.assign(ctx, {strokeStyle: css("--faint"), lineWidth: ratio});
      ctx.setLineDash([2 * ratio, 4 * ratio]);
      for (const v of this.panel.vertical) if (!logX || v > 0) { ctx.beginPath(); ctx.moveTo(at(v, "x"), u.bbox.top); ctx.lineTo(at(v, "x"), u.bbox.top + u.bbox.height); ctx.stroke(); }
      ctx.globalAlpha = .28;
      for (const c of this.visible(false)) c.series.x.forEach((x, i) => {
        const {theory, margin} = c.series;
        if (!margin[i] || logX && x <= 0 && c.series.x_name !== "none" || logY && theory[i] + margin[i] <= 0) return;
        const low = theory[i] - margin[i], top = at(theory[i] + margin[i], "y"), end = logY && low <= 0 ? u.bbox.top + u.bbox.height : at(low, "y");
        ctx.fillStyle = colour(c.look.colour);
        ctx.fillRect(this.across(c, x, at, u.bbox, ratio) - 8 * ratio, top, 16 * ratio, Math.max(ratio, end - top));
      });
    });
  }
  /// Above them: points with their standard errors, and theories that are one value alone.
  over(u) {
    const logX = this.panel.x.scale === "log", logY = this.panel.y.scale === "log";
    this.inside(u, (ctx, ratio, at) => {
      for (const c of this.visible(true)) {
        if (c.series.x.length !== 1 || c.series.x_name === "none" || logX && c.series.x[0] <= 0 || logY && c.series.y[0] <= 0) continue;
        Object.assign(ctx, {strokeStyle: colour(c.look.colour), lineWidth: 2 * ratio});
        const x = at(c.series.x[0], "x"), y = at(c.series.y[0], "y");
        ctx.beginPath(); ctx.moveTo(x - 9 * ratio, y); ctx.lineTo(x + 9 * ratio, y); ctx.stroke();
      }
      for (const c of this.visible(false)) c.series.x.forEach((x, i) => {
        const y = c.series.y[i], sem = c.series.sem[i];
        if (!Number.isFinite(y) || logY && y <= 0 || logX && x <= 0 && c.series.x_name !== "none") return;
        const px = this.across(c, x, at, u.bbox, ratio);
        Object.assign(ctx, {strokeStyle: colour(c.look.colour), lineWidth: 1.4 * ratio});
        ctx.beginPath(); ctx.moveTo(px, at(y + sem, "y")); ctx.lineTo(px, logY && y <= sem ? u.bbox.top + u.bbox.height : at(y - sem, "y")); ctx.stroke();
        this.mark(ctx, px, at(y, "y"), 3.4 * ratio, c.look);
      });
    });
  }

  /// The values at the cursor, beside the legend.
  read(index) {
    if (!this.legend.children.length) return;
    const x = index === null || index === undefined ? undefined : this.data[0][index];
    this.content.forEach((c, i) => {
      const v = x === undefined ? undefined : this.data[i + 1][index], sem = c.theory ? 0 : c.series.sem[c.series.x.indexOf(x)];
      this.legend.children[i].lastChild.textContent = v === undefined || v === null ? "" : pretty(v) + (sem ? " ± " + pretty(sem) : "");
    });
    this.note.textContent = x === undefined ? this.remark() : `${this.node.children[2].textContent} = ${pretty(x)}`;
  }
  select(u) {
    const {left, top, width, height} = u.select;
    if (width < 4 && height < 4) return;
    const between = (k, from, to) => [u.posToVal(from, k), u.posToVal(to, k)];
    const zoom = {x: width < 4 ? (this.zoom ?? this.whole).x : between("x", left, left + width), y: height < 4 ? (this.zoom ?? this.whole).y : between("y", top + height, top)};
    u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    this.show(zoom);
  }
  /// The zoomed range of x moved so that a value lies in its middle, as far as there is more.
  around(value) {
    const log = this.panel.x.scale === "log", [to, from] = log ? [Math.log, Math.exp] : [v => v, v => v];
    const [low, high] = this.zoom.x.map(to), [least, most] = this.whole.x.map(to), half = (high - low) / 2;
    const centre = Math.min(most - half, Math.max(least + half, to(value)));
    return [from(centre - half), from(centre + half)];
  }
  key(event) {
    const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity}[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" || event.key === "0") this.show(null);
    if (event.key === "+" || event.key === "=") this.scaled(1 / 1.6);
    if (event.key === "-" || event.key === "_") this.scaled(1.6);
    if (steps === undefined) return;
    event.preventDefault();
    const last = this.data[0].length - 1, from = this.chart.cursor.idx ?? (steps > 0 ? -1 : last + 1), to = Math.min(last, Math.max(0, from + steps));
    // What is read stays in sight.
    if (this.zoom && !(this.data[0][to] >= this.zoom.x[0] && this.data[0][to] <= this.zoom.x[1])) this.show({...this.zoom, x: this.around(this.data[0][to])});
    this.chart.setCursor({left: this.chart.valToPos(this.data[0][to], "x"), top: this.chart.over.clientHeight / 2});
    this.spoken.textContent = this.note.textContent + ": " + [...this.legend.children].filter(e => e.lastChild.textContent).map(e => `${e.children[1].textContent}: ${e.lastChild.textContent}`).join("; ");
  }
}
let charts = [];
function draw() { for (const chart of charts) chart.draw(); }
dark.addEventListener("change", () => { for (const chart of charts) { chart.shape = ""; chart.draw(); } });

// --------------------------------------------------------------------------------------------- points over the theory
function listOverlays() {
  $("overlays").textContent = "";
  overlays.forEach((overlay, k) => {
    const item = element("li", "", "points: " + overlay.label), remove = element("button", "", "remove");
    const drawn = overlay.series.filter(s => study.panels.some((panel, i) => panel.layers.some((layer, j) => layer.simulation && matches(layer, panel, s, i + j))));
    if (!drawn.length) item.append(`; no panel shows ${[...new Set(overlay.series.map(s => s.name))].join(", ")}`);
    remove.type = "button"; remove.setAttribute("aria-label", `remove ${overlay.label}`);
    remove.addEventListener("click", () => { overlays.splice(k, 1); listOverlays(); draw(); });
    item.append(remove);
    $("overlays").append(item);
  });
}
function overlay(one) { overlays.push(one); listOverlays(); draw(); }
async function loadFiles() {
  for (const file of $("file").files) overlay(await ask("overlay", {name: file.name, text: await file.text()}));
  $("file").value = "";
}

let stop = null;
async function simulate() {
  if (stop) { stop.abort(); return; }
  stop = new AbortController();
  $("simulate").textContent = "Cancel"; $("bar").hidden = false; $("bar").removeAttribute("value");
  $("outcome").textContent = "starting"; $("outcome").className = "";
  const wrong = text => { $("outcome").textContent = text; $("outcome").className = "wrong"; };
  try {
    const answer = await fetch(base + "simulate", {method: "POST", headers: {"Content-Type": "application/json"}, signal: stop.signal,
      body: JSON.stringify({...changed(), "sim.replicates": $("replicates").value})});
    if (!answer.ok) throw new Error((await answer.json()).error);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = "", part; !(part = await reader.read()).done;) {
      const lines = (text + part.value).split("\n");
      text = lines.pop();
      for (const line of lines.map(l => JSON.parse(l))) {
        if (line.error) throw new Error(line.error);
        if (line.progress) { $("outcome").textContent = line.progress; $("bar").value = parseFloat(line.progress); }
        if (line.series) { overlay(line); $("outcome").textContent = `${line.summary || line.verdict}; ${line.folder}`; }
      }
    }
  } catch (error) { wrong(error.name === "AbortError" ? "cancelled; it carries on from where it was if you simulate the same again" : error.message); }
  stop = null;
  $("simulate").textContent = "Simulate here"; $("bar").hidden = true;
}

// ---------------------------------------------------------------------------------------------------- taking it along
const shell = text => /^[\w./=:+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
const asCommand = () => ["attica theory", shell(study.target), ...study.arguments.map(shell), ...Object.entries(changed()).map(([k, v]) => "--set " + shell(`${k}=${v}`))].join(" ");
function asToml() {
  const sections = {};
  for (const p of used()) if (values[p.key] !== "") {
    const [section, ...rest] = p.key.includes(".") ? p.key.split(".") : ["", p.key];
    (sections[section] ??= []).push(`${rest.join(".")} = ${values[p.key]}`);
  }
  return `study = "${study.study}"\n` + Object.entries(sections).map(([s, l]) => (s ? `\n[${s}]\n` : "") + l.join("\n") + "\n").join("");
}
const python = v => v === "true" ? "True" : v === "false" ? "False" : v.startsWith("{") ? v.replace(/(\w+) *=/g, '"$1":') : v;
function asPython() {
  const shown = used().filter(p => values[p.key] !== (study.brought ? p.value : p.fallback) && values[p.key] !== "");
  return `attica.theory("${study.brought ? study.target : study.study}"` + (shown.length ? ", **{" + shown.map(p => `"${p.key}": ${python(values[p.key])}`).join(", ") + "}" : "") + ")";
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
async function csvFile() {
  const rows = exported ? curves : (await ask("theory", changed())).series, names = [...new Set(rows.flatMap(s => Object.keys(s.point)))];
  const quote = v => /[",\n]/.test(v) ? '"' + String(v).replaceAll('"', '""') + '"' : String(v ?? "");
  return ["series," + names.map(n => quote(n) + ",").join("") + "x_name,x,value"].concat(rows.flatMap(s => s.x.map((x, i) =>
    [s.name, ...names.map(n => s.point[n]), s.x_name, x, s.y[i]].map(quote).join(",")))).join("\n") + "\n";
}
async function svgFile() {
  return (await ask("figure", {values: changed(), overlays: overlays.map(o => ({series: o.series.map(s => ({...s, x_name: s.x_name || study.panels[0].x_name || curves[0].x_name}))}))})).svg;
}

// -------------------------------------------------------------------------------------------------------------- start
function enter(state) {
  for (const row of document.querySelectorAll(".row")) row.enter(state[row.dataset.key] ?? row.dataset.value);
}
function fromAddress() {
  try { return JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}"); } catch { return {}; }
}
(async () => {
  try {
    study = exported ? exported.study : await ask("study.json");
    document.body.classList.toggle("exported", Boolean(exported));
    $("title").textContent = study.study; $("question").textContent = study.question; document.title = "attica explore " + study.study;
    $("replicates").value = study.replicates;
    $("toml").hidden = study.brought;  // it is the file that the page started from
    overlays = study.overlays;
    controls(); enter(fromAddress());
    charts = study.panels.map((panel, number) => new Chart(panel, number));
    $("command").onclick = () => copy(asCommand()); $("toml").onclick = () => copy(asToml()); $("python").onclick = () => copy(asPython());
    $("svg").onclick = guarded(async () => save(study.study + ".svg", await svgFile(), "image/svg+xml"));
    $("csv").onclick = guarded(async () => save(study.study + ".csv", await csvFile(), "text/csv"));
    $("load").onclick = () => $("file").click();
    $("file").onchange = guarded(loadFiles);
    $("simulate").onclick = simulate;
    $("reset").onclick = () => { enter({}); update(); };
    window.addEventListener("hashchange", () => { enter(fromAddress()); update(); });
    $("controls").addEventListener("submit", e => e.preventDefault());
    listOverlays();
    await update();
  } catch (error) { say(error.message, true); }
})();
