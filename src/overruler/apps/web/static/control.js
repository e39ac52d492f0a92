// The caster's desk, for a dock of OBS: the picture with pieces to click, and buttons that do what the HTTP actions do.
import { listen } from "/static/air.js";

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const LEAST_REACH = 30, PICTURE_MS = 250;
let first = null, now = null;

async function act(name, told = {}) {
  const answer = await fetch(`/api/live/do/${name}?${new URLSearchParams(told)}`, { method: "POST" });
  at("said").textContent = answer.ok ? "" : (await answer.json()).error;
}

function pick(id) {
  if (at("ringing").checked) act("bands", { piece: id });
  else if (first && first !== id) { act("pick", { from: first, to: id }); first = null; }
  else first = first === id ? null : id;
  if (now) table(now);
}

function node(name, told, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(told)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

function made(piece) {
  const group = node("g", { class: "piece", tabindex: 0, role: "button", "data-id": piece.id }, at("table"));
  node("circle", {}, group);
  node("path", {}, group);
  node("text", {}, group).textContent = piece.id;
  group.addEventListener("click", () => pick(piece.id));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(piece.id); }
    if (event.key === "b") act("bands", { piece: piece.id });
  });
  return group;
}

function table(state) {
  at("table").setAttribute("viewBox", `0 0 ${state.size_px.join(" ")}`);
  const there = new Map([...at("table").children].map((group) => [group.dataset.id, group]));
  for (const piece of state.pieces.filter((one) => one.d)) {
    const group = there.get(piece.id) || made(piece), [x, y] = piece.center_px;
    there.delete(piece.id);
    const chosen = piece.id === first || state.pair?.includes(piece.id) || state.bands.includes(piece.id);
    group.dataset.state = piece.state;
    group.setAttribute("aria-pressed", Boolean(chosen));
    group.setAttribute("aria-label", `${piece.id}, ${piece.base}, ${piece.state}`);
    const [circle, path, text] = group.children;
    path.setAttribute("d", piece.d);
    for (const [key, value] of [["cx", x], ["cy", y], ["r", LEAST_REACH]]) circle.setAttribute(key, value);
    text.setAttribute("x", x);
    text.setAttribute("y", y + 9);
  }
  for (const group of there.values()) group.remove();
}

function words(state, onAir, linked) {
  const late = state.calibrated && !onAir ? "it is late" : null;
  const why = !linked ? "the server does not answer" : state.lost ?? late;
  at("source").textContent = why ? `No picture: ${why}` : state.calibrated ? "Watching" : "Measuring the table …";
  at("source").toggleAttribute("data-lost", Boolean(why));
  at("headline").textContent = (onAir && state.ruling && `${state.ruling.between.join(" → ")}: ${state.ruling.headline}`) || "";
  at("detail").textContent = (onAir && state.ruling?.detail) || "";
  at("waiting").textContent = state.waiting.length ? `Off the air: ${state.waiting.join(", ")}` : "";
  at("notes").replaceChildren(...[...state.notes, ...state.problems].map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  document.querySelector("[data-do=freeze]").setAttribute("aria-pressed", Boolean(state.frozen && !state.frozen.large));
  document.querySelector("[data-do=close]").setAttribute("aria-pressed", Boolean(state.frozen?.large));
}

function picture() {
  const next = new Image();
  next.onload = () => { at("camera").src = next.src; setTimeout(picture, document.hidden ? 2000 : PICTURE_MS); };
  next.onerror = () => setTimeout(picture, 1000);
  next.src = `/api/live/picture.jpg?n=${Date.now()}`;
}

for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => act(button.dataset.do));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const name = { s: "swap", f: "freeze", z: "close", Escape: "clear" }[event.key];
  if (name) act(name);
});
listen((state, onAir, linked) => {
  now = state;
  table(state);
  words(state, onAir, linked);
  document.documentElement.dataset.version = state.version;
});
picture();
