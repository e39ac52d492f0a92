// The caster's desk, for a dock of OBS: the picture with pieces to click, and buttons that do what the HTTP actions do.
import { listen } from "/static/air.js";
import { Air, saveClip } from "/static/control_air.js";
import { Asked } from "/static/control_asked.js";
import { Correct } from "/static/control_correct.js";
import { Pieces } from "/static/control_pieces.js";
import { ShowPanel } from "/static/control_show.js";
import { Units } from "/static/control_units.js";
import { arrow } from "/static/forms.js";
import { parts } from "/static/lengths.js";
import { holdSecondTaps } from "/static/taps.js";

const at = (id) => document.getElementById(id);
const PICTURE_MS = 250;
const HELP = {
  rule: "Click two pieces: from, to.",
  bands: "Click a piece: its range lines, on or off.",
  arcs: "Click a ship: its arcs, on or off.",
  units: "Click pieces to choose them, then give them a name, a unit or a player.",
  correct: "Drag a piece to where it stands. Click an empty place to add one.",
  ground: "Click a piece: the ground within so many inches of it, on or off.",
  shadow: "Click a piece: the ground that it does not see past terrain, on or off.",
  show: "Players, scores, the round and the caption that viewers see. An empty score takes a player off the scoreboard.",
};

class Desk {
  constructor() {
    Object.assign(this, { first: null, now: null, mode: "rule" });
    this.pieces = new Pieces(at("table"), this);
    this.asked = new Asked(this);
    this.air = new Air(at("preview"));
    this.modes = { units: new Units(this), correct: new Correct(this), show: new ShowPanel(this) };
    for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => this.act(button.dataset.do));
    for (const button of document.querySelectorAll("[data-mode]")) button.addEventListener("click", () => this.turn(button.dataset.mode));
    at("clip").addEventListener("click", (event) => {
      event.preventDefault();
      saveClip(at("clip"), (words) => (at("said").textContent = words));
    });
    document.addEventListener("keydown", (event) => this.#key(event));
    this.turn("rule");
  }

  // --- telling the server ---

  act(name, told = {}) {
    return this.#post(`do/${name}?${new URLSearchParams(told)}`);
  }

  fix(...fixes) {
    return this.#post("fix", JSON.stringify({ schema: "overruler/fix/1", fix: fixes }));
  }

  async #post(path, body) {
    const answer = await fetch(`/api/live/${path}`, { method: "POST", body }).catch(() => null);
    const said = !answer ? "The server does not answer." : answer.ok ? "" : (await answer.json()).error;
    at("said").textContent = said;
    return !said;
  }

  // --- picking ---

  picked(id) {
    if (["bands", "arcs", "shadow"].includes(this.mode)) this.act(this.mode, { piece: id });
    else if (this.mode === "ground") this.act("ground", { piece: id, ...this.asked.reach() });
    else if (this.mode !== "rule") this.modes[this.mode].picked(id);
    else this.#rule(id);
    this.pieces.draw();
  }

  #rule(id) {
    const name = (one) => (at("whole").checked && this.piece(one)?.unit) || one;
    if (this.first && this.first !== id) this.act("pick", { from: name(this.first), to: name(id) });
    this.first = this.first ? null : id;
  }

  piece(id) {
    return this.now?.pieces.find((one) => one.id === id);
  }

  turn(mode) {
    this.modes[this.mode]?.leave();
    Object.assign(this, { mode, first: null });
    for (const button of document.querySelectorAll("[data-mode]")) button.setAttribute("aria-checked", button.dataset.mode === mode);
    at("editing").replaceChildren();
    this.modes[mode]?.enter();
    at("help").textContent = HELP[mode];
    this.pieces.draw();
  }

  #key(event) {
    const typing = event.target.matches("input, select");
    if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape") || event.defaultPrevented) return;
    if (this.modes[this.mode]?.key?.(event, null)) return event.preventDefault();
    if (typing) return;
    const mode = Object.keys(HELP)[Number(event.key) - 1];
    if (mode) return this.turn(mode);
    const name = { s: "swap", f: "freeze", z: "close", r: "replay", escape: "clear" }[event.key.toLowerCase()];
    if (name) this.act(name);
  }

  // --- showing ---

  told(state, onAir, linked) {
    this.now = state;
    this.modes[this.mode]?.told?.();
    this.pieces.draw();
    words(state, onAir, linked);
    this.asked.show(state, state.lost ? "no picture yet" : "measuring the table …");
    this.air.show(state, onAir, linked);
    document.documentElement.style.setProperty("--ratio", state.size_px[0] / state.size_px[1]);
    document.documentElement.dataset.version = state.version;
  }
}

function words(state, onAir, linked) {
  const late = state.calibrated && !onAir ? "it is late" : null;
  const why = !linked ? "the server does not answer" : state.lost ?? late;
  at("source").textContent = why ? `No picture: ${why}` : state.calibrated ? "Watching" : "Measuring the table …";
  at("source").toggleAttribute("data-lost", Boolean(why));
  const told = onAir && state.ruling;
  at("headline").replaceChildren(...(told ? [...arrow(told.between.map(label(state))), `: ${told.headline}`] : []));
  at("detail").replaceChildren(...parts(told?.detail || ""));
  at("clip").hidden = !told;
  if (told?.detail && told.names?.every(Boolean)) at("detail").append(" · viewers read “", ...arrow(told.names), "”");
  at("waiting").textContent = state.waiting.length ? `Off the air: ${state.waiting.join(", ")}` : "";
  at("notes").replaceChildren(...[...state.notes, ...state.problems].map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  document.querySelector("[data-do=freeze]").setAttribute("aria-pressed", Boolean(state.frozen && !state.frozen.large && !state.frozen.replay));
  document.querySelector("[data-do=replay]").setAttribute("aria-pressed", Boolean(state.frozen?.replay));
  document.querySelector("[data-do=close]").setAttribute("aria-pressed", Boolean(state.frozen?.large));
}

const label = (state) => (id) => state.pieces.find((one) => one.id === id)?.label ?? id;

function picture() {
  const next = new Image();
  next.onload = () => { at("camera").src = next.src; desk.air.picture(next.src); setTimeout(picture, document.hidden ? 2000 : PICTURE_MS); };
  next.onerror = () => setTimeout(picture, 1000);
  next.src = `/api/live/picture.jpg?n=${Date.now()}`;
}

holdSecondTaps();
const desk = new Desk();
new ResizeObserver(() => desk.pieces.draw()).observe(at("picture"));
listen((state, onAir, linked) => desk.told(state, onAir, linked));
picture();
