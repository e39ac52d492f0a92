"use strict";
const film = JSON.parse(document.getElementById("data").textContent), at = id => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg", W = film.board.width_mm, H = film.board.height_mm, unit = Math.max(W, H) / 100;
function svg(name, attributes, parent, text) {
  const one = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (text !== undefined) one.textContent = text;
  if (parent) parent.append(one);
  return one;
}
function cells(row, values) {
  const heads = row.closest("table").tHead.rows[0].cells;
  values.forEach((value, k) => { const td = document.createElement("td"); td.className = heads[k]?.className ?? ""; td.append(...[].concat(value)); row.append(td); });
}
function soft(text) { const one = document.createElement("span"); one.className = "doubt"; one.textContent = text; return one; }
function clock(s) { const tenths = Math.round(s * 10), m = Math.floor(tenths / 600), h = Math.floor(m / 60), pad = n => String(n).padStart(2, "0");
  return (h ? h + ":" + pad(m % 60) : m % 60) + ":" + pad(Math.floor(tenths / 10) % 60) + "." + tenths % 10; }
const MM = film.unit === "in" ? 25.4 : 1, sign = film.unit === "in" ? "″" : " mm"; // the unit that lengths are told in
const inUnit = mm => (mm / MM).toFixed(MM > 1 ? 2 : 1) + sign, spread = sigma => "± " + inUnit(1.96 * sigma);
at("reach-unit").textContent = sign.trim();
const grown = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // how much larger than usual the browser's letters are set
const hue = i => "oklch(.68 .13 " + (250 + i * 137.5) % 360 + ")";

// --- the table from above ---
const margin = 4 * unit, table = at("table"), moved = new Set(film.moves.map(m => m.piece));
const sides = [...new Set(film.pieces.map(p => p.player).filter(Boolean))];
table.setAttribute("viewBox", [-margin, -margin, W + 2 * margin, H + 2 * margin].join(" "));
svg("rect", { width: W, height: H, rx: unit, style: "fill:var(--mat);stroke:var(--line)", "stroke-width": unit / 3 }, table);
const mat = svg("image", { width: W, height: H, preserveAspectRatio: "none" }, table);
for (const t of film.terrain) svg("polygon", { points: t.footprint_mm.map(([x, y]) => x + "," + (H - y)).join(" "), style: "fill:var(--line);fill-opacity:.5" }, table);
const threat = svg("g", { style: "fill:var(--accent);opacity:.35" }, table);
const trails = film.moves.map(m => { const group = svg("g", {}, table), points = m.way.map(([x, y]) => x + "," + (H - y)).join(" ");
  const line = { points, fill: "none", "stroke-linecap": "round", "stroke-linejoin": "round" };
  svg("polyline", { ...line, "stroke-width": unit * .9, style: "stroke:var(--sheet)" }, group);
  svg("polyline", { ...line, "stroke-width": unit * .5, "stroke-dasharray": unit + " " + unit, style: "stroke:var(--accent)" }, group);
  return group; });
const PAINTS = { red: "#e5383b", blue: "#3a86ff", green: "#2f9e57", yellow: "#d9a800", orange: "#f08a24", purple: "#8b5cf6", pink: "#e0559b", white: "#cfd4da", black: "#4a5058", grey: "#8a929b" };
const paint = name => PAINTS[name.toLowerCase().split(/\s+/).find(word => PAINTS[word])];
const colour = (piece, i) => piece.player ? paint(piece.player) ?? hue(sides.indexOf(piece.player)) : moved.has(piece.id) ? hue(i) : "var(--soft)";
function shape(base, grown, look, parent) {
  const w = (base.diameter_mm || base.width_mm) + 2 * grown, l = (base.diameter_mm || base.length_mm) + 2 * grown;
  if (base.shape === "rectangle") return svg("rect", { x: -l / 2, y: -w / 2, width: l, height: w, rx: grown + (base.corner_radius_mm || 0), ...look }, parent);
  return svg("ellipse", { rx: l / 2, ry: w / 2, ...look }, parent);
}
const drawn = film.pieces.map((piece, i) => {
  const group = svg("g", {}, table);
  shape(piece.base, 0, { fill: "none", style: "stroke:var(--sheet)", "stroke-width": unit * .5 }, group);
  shape(piece.base, 0, { class: "base", style: "fill:" + colour(piece, i) + ";stroke:" + colour(piece, i), "stroke-width": unit / 4 }, group);
  const doubt = svg("circle", { fill: "none", style: "stroke:var(--ink)", "stroke-width": unit / 10, "stroke-dasharray": unit / 3 }, group);
  const about = svg("title", {}, group, piece.label);
  return { piece, group, doubt, about, area: shape(piece.base, 0, {}, threat) };
});
const tags = svg("g", { "aria-hidden": "true" }, table);
for (const one of drawn) one.tag = svg("text", { class: "tag", "text-anchor": "middle" }, tags, one.piece.label);

// Names stand where they hide no base and no other name; one without room is told by its tooltip.
function placeTags() {
  const scale = 1 / (table.getScreenCTM()?.a || 1), high = 12.5 * grown() * scale;
  const half = ({ piece: { base } }) => (base.diameter_mm || Math.max(base.width_mm, base.length_mm)) / 2;
  const taken = drawn.filter(one => one.at).map(one => [one.at.x - half(one), H - one.at.y - half(one), one.at.x + half(one), H - one.at.y + half(one)]);
  for (const one of drawn) {
    one.tag.style.display = one.at && shown(one.piece) ? "" : "none";
    if (!one.at || !shown(one.piece)) continue;
    const wide = one.piece.label.length * high * .62, away = half(one) + high * .62, x = one.at.x, y = H - one.at.y;
    const spots = [[x, y - away], [x + half(one) + wide / 2 + high * .2, y], [x, y + away], [x - half(one) - wide / 2 - high * .2, y]];
    const box = ([cx, cy]) => [cx - wide / 2, cy - high / 2, cx + wide / 2, cy + high / 2];
    const free = spots.find(spot => { const [l, t, r, b] = box(spot); return l >= -margin && r <= W + margin && t >= -margin && b <= H + margin && taken.every(([tl, tt, tr, tb]) => r <= tl || l >= tr || b <= tt || t >= tb); });
    one.tag.style.display = free ? "" : "none";
    if (!free) continue;
    taken.push(box(free));
    for (const [key, value] of Object.entries({ x: free[0], y: free[1] + high * .36, "font-size": high, "stroke-width": high * .28 })) one.tag.setAttribute(key, value);
  }
}

// --- whom the page is about ---
const shown = piece => { const [kind, name] = (at("who").value || "all").split(/:(.*)/); return kind === "all" || piece[kind] === name; };
const named = new Map(film.pieces.map(p => [p.id, p])), label = id => named.get(id)?.label ?? id;
const concerns = ids => ids.some(id => named.has(id) && shown(named.get(id)));
at("who").append(new Option("everyone", "all"));
for (const kind of ["player", "unit", "id"]) for (const name of [...new Set(film.pieces.map(p => p[kind]).filter(Boolean))].sort()) at("who").append(new Option(kind === "id" ? label(name) : kind + " " + name, kind + ":" + name));
function filter() {
  for (const { piece, group } of drawn) group.classList.toggle("apart", !shown(piece));
  for (const row of document.querySelectorAll("[data-about]")) row.hidden = !concerns(JSON.parse(row.dataset.about));
  show(moment);
}
at("who").addEventListener("change", filter);
at("reach").addEventListener("input", () => show(moment));
at("photo").addEventListener("change", () => show(moment));
at("photo-row").hidden = !film.rests.some(rest => rest.still.length > 10);
new ResizeObserver(() => requestAnimationFrame(() => { placeTags(); chart(); })).observe(document.querySelector("main"));
function place(piece, time) {
  for (const move of film.moves) if (move.piece === piece.id && time > move.start_s && time < move.end_s) {
    const path = [[move.start_s, move.from_x_mm, move.from_y_mm], ...move.trail.filter(p => p[0] > move.start_s && p[0] < move.end_s), [move.end_s, move.to_x_mm, move.to_y_mm]];
    const k = path.findIndex(p => p[0] >= time), [t0, x0, y0] = path[k - 1], [t1, x1, y1] = path[k], q = (time - t0) / (t1 - t0);
    return { x: x0 + q * (x1 - x0), y: y0 + q * (y1 - y0), sigma: 1.5, moving: true };
  }
  let last = null;
  for (const s of piece.stays) if (s[0] <= time + .06) last = s;
  if (!last) return null;
  return { x: last[2], y: last[3], sigma: last[4], away: time > last[1] + 1.5 && last === piece.stays[piece.stays.length - 1] };
}
let shownRest = -1, moment = 0;
function show(time) {
  moment = time;
  at("time").value = time; at("clock").textContent = clock(time) + " of " + clock(film.length_s);
  const reach = Number(at("reach").value) * MM, hasPhoto = at("photo").checked && !at("photo-row").hidden;
  const rest = Math.max(0, film.rests.findLastIndex(one => one.time_s <= time + .06));
  mat.style.display = hasPhoto ? "" : "none";
  table.classList.toggle("bare", !hasPhoto);
  if (film.rests.length && rest !== shownRest) mat.setAttribute("href", film.rests[rest].still);
  shownRest = rest;
  threat.style.display = reach > 0 ? "" : "none";
  for (const one of drawn) {
    const { piece, group, doubt } = one, p = one.at = place(piece, time);
    group.style.display = p ? "" : "none";
    one.area.style.display = p && shown(piece) ? "" : "none";
    if (!p) continue;
    const where = "translate(" + p.x + " " + (H - p.y) + ")";
    group.setAttribute("transform", where);
    group.style.opacity = p.away ? .25 : "";
    one.about.textContent = piece.label + ": " + p.x.toFixed(1) + ", " + p.y.toFixed(1) + " mm ± " + (1.96 * p.sigma).toFixed(1) + " mm (95 %)";
    doubt.setAttribute("r", (piece.base.diameter_mm || piece.base.length_mm) / 2 + 1.96 * p.sigma);
    if (reach > 0) { const grown = shape(piece.base, reach, { transform: where }, threat); one.area.replaceWith(grown); one.area = grown; grown.style.display = shown(piece) ? "" : "none"; }
  }
  placeTags();
  film.moves.forEach((m, i) => { trails[i].style.opacity = time < m.start_s || !concerns([m.piece]) ? 0 : time > m.end_s + 20 ? .25 : 1; });
  [...at("moves").tBodies[0].rows].forEach((row, i) => { if (film.moves[i]) row.classList.toggle("now", time >= film.moves[i].start_s && time <= film.moves[i].end_s); });
  offerClip(time);
  if (cursor) { const x = across(time); cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); }
}
let cursor = null, timer = null;
at("time").max = Math.ceil(film.length_s * 10) / 10;
at("time").addEventListener("input", () => go(Math.min(+at("time").value, film.length_s)));

// --- the film beside the page, looked for when somebody asks: a browser tells its console of a film that is not there ---
const reel = at("film"), hasReel = () => reel.readyState > 0;
let reelBegin = 0; // some browsers count a part that was cut with its times kept from hours on
const reelTime = () => reel.currentTime - reelBegin, reelLength = () => (reel.duration || Infinity) - reelBegin;
function seekReel(time) { reel.currentTime = reelBegin + Math.min(time, reelLength()); }
// Show a moment, on the film too.
function go(time) { if (hasReel()) seekReel(time); show(time); }
// Go to a moment that was chosen below the table, and bring the table into sight.
function jump(time) { go(time); at("table").scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" }); }
function say(text) { at("film-note").textContent = text; at("film-note").hidden = !text; }
function plain(address) { try { return decodeURIComponent(address); } catch { return address; } }
let tries = 0;
function tryFilm() {
  if (tries < film.films.length) { reel.src = film.films[tries++]; return; }
  reel.hidden = at("film-show").hidden = true; at("film-choose").hidden = false;
  say("The film " + plain(film.films[0].split("/").pop()) + " is not beside this page, or this browser cannot play it.");
}
reel.addEventListener("loadedmetadata", () => { reel.hidden = !reel.videoWidth; if (!reel.videoWidth) { tryFilm(); return; } say(""); at("film-choose").hidden = at("film-show").hidden = true; reelBegin = reel.currentTime; seekReel(moment); });
reel.addEventListener("error", tryFilm);
reel.addEventListener("seeking", () => { if (!timer && Math.abs(reelTime() - Math.min(moment, reelLength())) > .06) show(Math.min(reelTime(), film.length_s)); });
reel.addEventListener("play", start);
reel.addEventListener("pause", () => { if (reel.currentTime < (reel.duration || 0) || !timer) stop(); });
at("film-file").addEventListener("change", event => { const [file] = event.target.files; if (file) { tries = film.films.length; reel.src = URL.createObjectURL(file); } });
at("film-show").addEventListener("click", () => { at("film-show").disabled = true; tryFilm(); });
at("film-part").hidden = !film.films.length;

// The film's own clock leads while it runs; after its end, and without it, the page's does.
function start() {
  if (timer) return;
  at("play").textContent = "Pause";
  let before = performance.now();
  if (reel.paused) go(moment >= film.length_s - .1 ? 0 : moment);
  if (hasReel()) reel.play().catch(() => {});
  const step = now => {
    const runs = hasReel() && !reel.paused && !reel.ended;
    show(Math.min(runs ? reelTime() : moment + (now - before) / 1000, film.length_s));
    before = now;
    if (moment < film.length_s) timer = requestAnimationFrame(step); else stop();
  };
  timer = requestAnimationFrame(step);
}
function stop() { cancelAnimationFrame(timer); timer = null; at("play").textContent = "Play"; if (!reel.paused) reel.pause(); }
at("play").addEventListener("click", () => timer ? stop() : start());

// --- moves ---
for (const m of film.moves) {
  const row = at("moves").tBodies[0].insertRow();
  row.tabIndex = 0; row.dataset.about = JSON.stringify([m.piece]);
  const or = m.name_probability < .95 ? [soft(" or " + (m.perhaps ? label(m.perhaps) : "another") + " (" + (100 - 100 * m.name_probability).toFixed(0) + " %)")] : [];
  cells(row, [[label(m.piece), ...or], clock(m.start_s), clock(m.end_s), [inUnit(m.distance_mm)], m.way_seen ? [inUnit(m.path_mm) + " ", soft(spread(m.path_sigma_mm))] : [soft("not seen, at least "), inUnit(m.path_mm)]]);
  row.addEventListener("click", () => jump(m.start_s)); row.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); jump(m.start_s); } });
}
if (!film.moves.length) cells(at("moves").tBodies[0].insertRow(), ["none"]);

// --- distances ---
const CH = 260, right = 12;
let CW = 1000, left = 60, top_ = 14, foot = 30;
const across = t => left + t / Math.max(film.length_s, .1) * (CW - left - right);
function gap(rest, a, b) {
  if (!rest.mm) return null;
  let i = rest.ids.indexOf(a), j = rest.ids.indexOf(b);
  if (i < 0 || j < 0 || i === j) return null;
  if (i > j) [i, j] = [j, i];
  const n = rest.ids.length, k = i * n - i * (i + 1) / 2 + j - i - 1;
  return { mm: rest.mm[k], sigma: rest.sigma[k] };
}
// The piece of another side that is closest to some pieces at a rest.
function closest(k, ids) {
  const rest = film.rests[k], others = rest ? rest.ids.filter(id => ids.every(own => named.get(own)?.side !== named.get(id)?.side)) : [];
  const nearest = id => Math.min(...ids.map(own => gap(rest, own, id)?.mm ?? Infinity));
  return others.sort((one, other) => nearest(one) - nearest(other))[0];
}
function chart() {
  const box = at("chart"), a = at("a").value, b = at("b").value;
  const letters = 13 * grown();
  [left, top_, foot] = [60, 14, 30].map(one => one * grown());
  CW = Math.max(280, box.parentNode.clientWidth - 40);
  box.replaceChildren(); box.setAttribute("viewBox", "0 0 " + CW + " " + CH);
  const points = film.rests.map((rest, i) => ({ from: rest.time_s, to: i + 1 < film.rests.length ? film.rests[i + 1].time_s : film.length_s, gap: gap(rest, a, b) })).filter(p => p.gap);
  if (!points.length) { at("gap").textContent = "no rest shows both"; cursor = null; return; }
  const high = Math.max(...points.map(p => p.gap.mm + 2 * p.gap.sigma)), low = Math.max(0, Math.min(...points.map(p => p.gap.mm - 2 * p.gap.sigma)));
  const pad = Math.max((high - low) * .12, 5), up = high + pad, down = Math.max(0, low - pad);
  const y = mm => top_ + (up - mm) / (up - down) * (CH - top_ - foot);
  const raw = (up - down) / MM / 5, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(k => k * power).find(k => k >= raw);
  for (let mark = Math.ceil(down / MM / step) * step; mark * MM <= up; mark += step) {
    svg("line", { x1: left, x2: CW - right, y1: y(mark * MM), y2: y(mark * MM), style: "stroke:var(--line)" }, box);
    svg("text", { x: left - 8, y: y(mark * MM) + .3 * letters, "text-anchor": "end", "font-size": letters, style: "fill:var(--soft)" }, box, +mark.toFixed(2) + sign);
  }
  const ticks = Math.max(2, Math.min(6, Math.floor(CW / 110 / grown())));
  for (let k = 0; k <= ticks; k++) svg("text", { x: across(film.length_s * k / ticks), y: CH - 8, "text-anchor": k ? k < ticks ? "middle" : "end" : "start", "font-size": letters, style: "fill:var(--soft)" }, box, clock(film.length_s * k / ticks));
  for (const p of points) svg("rect", { x: across(p.from), width: Math.max(1, across(p.to) - across(p.from)), y: y(p.gap.mm + 1.96 * p.gap.sigma), height: Math.max(1.5, y(p.gap.mm - 1.96 * p.gap.sigma) - y(p.gap.mm + 1.96 * p.gap.sigma)), style: "fill:var(--band)" }, box);
  svg("path", { d: points.map((p, i) => (i ? "L" : "M") + across(p.from) + " " + y(p.gap.mm) + "L" + across(p.to) + " " + y(p.gap.mm)).join(""), fill: "none", "stroke-width": 2.5, "stroke-linejoin": "round", style: "stroke:var(--accent)" }, box);
  cursor = svg("line", { y1: top_, y2: CH - foot, style: "stroke:var(--ink)", "stroke-dasharray": "3 4" }, box);
  const end = points[points.length - 1].gap;
  at("gap").textContent = "at the end " + inUnit(end.mm) + " " + spread(end.sigma);
  show(moment);
}
for (const which of ["a", "b"]) for (const piece of film.pieces) at(which).append(new Option(piece.label, piece.id));
at("a").value = (film.moves[0] || film.pieces[0] || {}).piece || (film.pieces[0] || {}).id || "";
at("b").value = (closest(film.rests.length - 1, [at("a").value]) ?? film.pieces.map(p => p.id).find(id => id !== at("a").value)) || "";
at("a").addEventListener("change", chart); at("b").addEventListener("change", chart);
at("chart").addEventListener("click", e => { const box = at("chart").getBoundingClientRect(); go(Math.min(film.length_s, Math.max(0, ((e.clientX - box.left) / box.width * CW - left) / (CW - left - right) * film.length_s))); });

// --- the rest ---
const about = (row, ...ids) => { row.dataset.about = JSON.stringify(ids); return row; };
const count = (number, word) => number + " " + word + (number === 1 ? "" : "s");
at("sub").textContent = [clock(film.length_s), count(film.pieces.length, "piece"), count(film.moves.length, "move"), film.rests.length === 1 ? "1 moment of rest" : film.rests.length + " moments of rest"].join(" · ");
if (film.problems.length) { at("problems").hidden = false; for (const text of film.problems) { const li = document.createElement("li"); li.textContent = text; at("problems").querySelector("ul").append(li); } }
function told(turn) {
  const moves = film.moves.filter(m => m.start_s >= turn.from_s && m.start_s < turn.to_s), item = document.createElement("li");
  const total = new Map(); let seen = true;
  for (const m of moves) { total.set(m.piece, (total.get(m.piece) ?? 0) + m.path_mm); seen &&= m.way_seen; }
  const line = (text, soft_) => { const p = document.createElement("p"); p.textContent = text; if (soft_) p.className = "doubt"; item.append(p); };
  line(["Turn " + turn.turn, turn.player, clock(turn.from_s) + " – " + clock(turn.to_s)].filter(Boolean).join(" · "));
  line(moves.length ? moves.length + (moves.length === 1 ? " move, " : " moves, ") + (seen ? "" : "at least ") + inUnit([...total.values()].reduce((x, y) => x + y, 0)) : "nothing moved");
  if (moves.length) line([...total].sort((x, y) => y[1] - x[1]).slice(0, 6).map(([id, mm]) => label(id) + " " + inUnit(mm)).join(", "), true);
  const last = film.rests.findLastIndex(rest => rest.time_s <= turn.to_s), ids = [...total.keys()].filter(id => last >= 0 && film.rests[last].ids.includes(id));
  const pairs = ids.map(id => [id, closest(last, [id])]).filter(pair => pair[1]).map(([id, other]) => [id, other, gap(film.rests[last], id, other)]).filter(pair => pair[2]);
  pairs.sort((x, y) => x[2].mm - y[2].mm);
  if (pairs.length) { const [id, other, d] = pairs[0]; line("closest then: " + label(id) + " – " + label(other) + " " + inUnit(d.mm) + " " + spread(d.sigma), true); }
  item.dataset.about = JSON.stringify(moves.length ? [...total.keys()] : film.pieces.map(p => p.id));
  return item;
}
if (film.turns.length) { at("summary").hidden = false; at("summary").querySelector("ol").append(...film.turns.map(told)); }
if (film.turns.length) { at("turns").hidden = false;
  for (const row of film.turns) cells(at("turns").querySelector("tbody").insertRow(), [row.turn, clock(row.from_s), clock(row.to_s), row.player, String(row.moves), row.why]); }
if (film.contacts.length) { at("contacts").hidden = false;
  for (const row of film.contacts) cells(about(at("contacts").querySelector("tbody").insertRow(), row.from, row.to), [label(row.from) + " – " + label(row.to), clock(row.time_s), [inUnit(row.distance_mm) + " ", soft(spread(row.sigma_mm))], (100 * row.probability).toFixed(0) + " %"]); }
if (film.allowances) { at("allowed").hidden = false;
  for (const row of film.allowances) cells(about(at("allowed").querySelector("tbody").insertRow(), row.piece), [label(row.piece), clock(row.start_s), (row.way_seen ? "" : "at least ") + inUnit(row.path_mm), inUnit(row.allowance_mm), (100 * row.probability).toFixed(row.probability > .01 && row.probability < .99 ? 0 : 1) + " %"]); }
if (film.rulings) { at("ruled").hidden = false;
  for (const [a, b, range, share, since, mm] of film.rulings) cells(about(at("ruled").querySelector("tbody").insertRow(), a, b), [label(a) + " – " + label(b), String(range), (100 * share).toFixed(1) + " %", clock(since), inUnit(mm)]); }
for (const rest of film.rests) {
  const figure = document.createElement("figure"), button = document.createElement("button"), img = document.createElement("img"), caption = document.createElement("figcaption");
  img.src = rest.still; img.alt = "The table at " + clock(rest.time_s); img.loading = "lazy";
  caption.textContent = clock(rest.time_s) + " · " + rest.ids.length + " pieces";
  button.append(img); button.addEventListener("click", () => jump(rest.time_s));
  figure.append(button, caption); at("stills").append(figure);
}
{{clip}}chart(); show(0);
