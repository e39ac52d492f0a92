// One photo: sending it, its bases, and the ruling between the two that are tapped.

import * as api from "./api.js";
import { Corners } from "./corners.js";
import { Correct } from "./correct.js";
import { button, element, row } from "./forms.js";
import { Fronts } from "./fronts.js";
import { fill as listed } from "./list.js";
import { CloseUp } from "./closeup.js";
import { Labels } from "./labels.js";
import { inUnit, parts } from "./lengths.js";
import { Menu } from "./menu.js";
import { Photos, samePlace } from "./photos.js";
import { cased, shaded } from "./svg.js";
import { nearest } from "./stage.js";
import { ruled } from "./ruling.js";
import { Units } from "./units.js";

const find = (name) => document.getElementById(name);
const MISFIT = "do not fit a flat board"; // what is said where the markers lie otherwise than on the board
const UNSEEN = "no marker"; // how it begins where none of the board's markers was found
const TOO_SMALL = /^(the photo )?is only \d/; // how it begins where the photo has too few pixels
const SLOW_MS = 400; // so long an earlier answer may stand while the next is asked for
const UNDONE = "Your last correction was undone already, on another page";
const ADDED_SINCE = "Somebody has added a base since you did: remove yours under Correct";
const INCHES = ({ min, max }) => `The field above takes inches, from ${min} to ${max}: type them there`;
const NO_GRID = "No hex grid was seen in this photo: this counts hexes.";
const NO_MARKERS = "The markers of no known table were found. Take the photo with all of them whole, flat and in focus, or show the corners";
const UNKNOWN_BOARD = "No table that this page knows has its markers where they lie here. Go back and choose “Markers anywhere”, or show the corners";

export class Table {
  // `mat` is the size of the table in mm, where it is known.
  constructor(stage, known, asked, mat) {
    // `past` holds the corrections that each step made here has added, for an undo
    Object.assign(this, { stage, known, asked, mat, a: null, b: null, tap: null, mode: "rule", past: [] });
    this.modes = { correct: new Correct(this), units: new Units(this) };
    this.fronts = new Fronts(this);
    this.labels = new Labels(stage);
    this.closeUp = new CloseUp(find("gap"));
    this.photos = new Photos(this);
    this.menu = new Menu(this);
    stage.onTap = (at) => this.#tapped(at);
    stage.onPlace = () => this.#placed();
    this.#buttons();
    this.#hideAll();
  }

  #placed() {
    if (!this.found) return;
    if (this.mode === "rule") this.labels.place();
    const { stage } = this;
    if (stage.scale > stage.least * 1.6 && !this.local) stage.sharpen(api.photo(this.id, "full", this.photos.number));
  }

  // --- from the photo to its bases ---

  async sent(file, wish = this.asked) {
    this.busy("Sending the photo", 0);
    this.local = await this.#preview(URL.createObjectURL(file));
    const taken = await this.carried(api.send(file, wish, (share) => this.busy("Sending the photo", share)));
    this.id = taken.id;
    if (this.away) return;
    history.replaceState(null, "", `/m/${this.id}`);
    if (!this.local) await this.#preview(api.photo(this.id)); // the server has made a picture of it that can be shown
    await this.followed();
  }

  // A photo on its way to the computer; an error says that only this page has it still.
  async carried(sent) {
    this.sending = true;
    try {
      return await sent;
    } catch (error) {
      throw Object.assign(error, { unsent: true });
    } finally {
      this.sending = false;
      setTimeout(() => this.onSent?.()); // once what comes of it is known
    }
  }

  // Whether somebody went back to the start while a photo was sent, or on to another one: the start lists what is sent.
  get away() {
    return this.left || find("photo").hidden;
  }

  // A photo without markers: somebody shows the mat's corners in it before it is sent.
  async shown(file) {
    const local = URL.createObjectURL(file);
    if (!(await this.#preview(local))) return this.sent(file, { ...this.asked, markers: "known" }); // corners are shown on what comes back
    this.stage.root.classList.remove("busy");
    const measure = (points) => this.sent(file, (this.asked = { ...this.asked, points }));
    this.corners = new Corners(this.stage, local, "", measure, this.mat);
    await this.corners.open();
  }

  async opened(one) {
    this.id = one.id;
    if (one.state !== "done") await this.#preview(api.photo(this.id));
    await this.followed();
  }

  // Tell how the measuring goes, then show what came of it.
  async followed(pair) {
    this.busy("Waiting for its turn");
    const ended = await api.watch(this.id, (news) => this.busy(news.step));
    if (this.left) return;
    this.idle();
    this.record = ended;
    this.titled?.(ended);
    if (ended.state === "done") return this.refresh(pair);
    if (!ended.unmeasurable) throw new Error(ended.step);
    if (TOO_SMALL.test(ended.step)) throw new Error(`The photo ${ended.step.replace(/^the photo /, "")}`); // corners would not help
    this.#hideAll();
    const known = this.known.tables.includes(ended.fits);
    if (known) return this.#otherBoard(ended);
    const again = (points) => this.again({ points });
    const why = (ended.by_markers && recognisedNone(ended.step)) || ended.step;
    await new Corners(this.stage, api.photo(this.id, "full"), why, again, this.mat, this.id).open();
  }

  // The photo shows another board than the one that was chosen: one tap measures it by that one.
  #otherBoard({ fits, step }) {
    const go = button(`Measure with ${fits}`, () => this.#measureBy(fits).catch((error) => this.complain(error.message)), "main");
    ruled(find("ruling"), { error: `${step[0].toUpperCase()}${step.slice(1)}.` });
    find("ruling").append(row(go));
  }

  // Measure by another board, in place of the one that did not fit.
  async #measureBy(board) {
    const failed = this.id;
    this.mat = this.known.table_sizes_mm[board] || this.mat;
    await this.again({ table: board });
    await api.forget(failed).catch(() => {});
  }

  // How this table was measured, for measuring it otherwise; null where corrections would be lost.
  measuredBy() {
    const { table, photos } = this.record ?? {};
    if (!this.found || this.found.fixes.length || photos > 1) return null;
    if (this.known.tables.includes(table)) return { table };
    const [, marker_mm] = table.match(/^markers of ([\d.]+) mm$/) ?? [];
    return marker_mm ? { marker_mm } : null;
  }

  // Measure by another game; the pair stays. Where that fails the table is as it was.
  async otherGame(game) {
    if (this.mode !== "rule") this.enter("rule");
    const { id, tap, asked, record, a, b } = this;
    this.tap = null;
    try {
      await this.again({ ...this.measuredBy(), game }, [a, b]);
    } catch (error) {
      Object.assign(this, { id, tap, asked, record });
      history.replaceState(null, "", `/m/${id}`);
      this.titled?.(record);
      await this.refresh([a, b]);
      this.complain(error.message);
    }
  }

  async again(wish, pair) {
    find("ruling").replaceChildren();
    Object.assign(this, { asked: { ...this.asked, ...wish }, past: [] });
    const taken = await api.again(this.id, { game: this.asked.game, ...wish });
    this.id = taken.id;
    this.titled?.(taken);
    history.replaceState(null, "", `/m/${this.id}`);
    this.#hideAll(); // nothing is asked of a table before it is measured
    this.stage.root.classList.add("busy");
    await this.followed(pair);
  }

  async #preview(source) {
    const photo = new Image();
    photo.src = source;
    await photo.decode().catch(() => {});
    if (photo.naturalWidth) this.stage.show(source, [photo.naturalWidth, photo.naturalHeight]);
    find("unseen").hidden = Boolean(photo.naturalWidth);
    this.stage.root.classList.add("busy");
    return photo.naturalWidth ? source : null; // what the browser cannot show, the server shows
  }

  busy(text, share) {
    if (this.left) return;
    find("progress").hidden = false;
    find("step").textContent = text;
    if (share === undefined) find("how-far").removeAttribute("value");
    else find("how-far").value = share;
  }

  idle() {
    if (this.left) return;
    this.stage.root.classList.remove("busy");
    find("progress").hidden = true;
  }

  // Say what went wrong where it is read: at the ruling, or in the panel in its place.
  complain(words) {
    if (this.left) return;
    if (this.mode === "rule") ruled(find("ruling"), { error: words });
    else this.modes[this.mode].complain(words);
  }

  // Draw the table as the server has it now; `pair` was chosen on another measurement of it.
  async refresh(pair) {
    const before = this.found?.photo;
    this.found = await api.table(this.id, this.photos.shown);
    this.photos.shown = this.found.photo;
    const kept = pair || [this.a, this.b];
    const again = (piece) => piece && (pair ? samePlace(this.found.pieces, piece.place_mm) : this.found.pieces.find(({ id }) => id === piece.id));
    [this.a, this.b] = kept.map((piece) => again(piece) || null);
    this.stood = this.photos.draw();
    if (this.found.photo !== before) this.show();
    find("undo").hidden = !this.found.fixes.length;
    this.#choose();
    find("modes").hidden = false;
    find("tools").hidden = this.mode !== "rule";
    this.drawBases();
    if (this.mode === "rule") await this.update();
  }

  // The photo itself, whole.
  show() {
    this.stage.sharp = null;
    find("unseen").hidden = true;
    this.stage.show(this.local || api.photo(this.id, "", this.photos.number), this.found.size_px);
  }

  // --- choosing ---

  #choose() {
    const named = (name) => this.known.games.find((one) => one.name === name);
    const game = named(this.found.preset) || named(this.found.game);
    this.tap ??= game.taps[0];
    const buttons = game.taps.map((tap) => {
      const button = document.createElement("button");
      button.className = "tab";
      button.textContent = tap.label;
      button.onclick = () => this.#asks(tap);
      return button;
    });
    find("questions").replaceChildren(...buttons);
    this.#asks(this.tap, false);
  }

  #asks(tap, now = true) {
    this.tap = tap;
    for (const button of find("questions").children) button.setAttribute("aria-pressed", button.textContent === tap.label);
    find("arc").hidden = !tap.arcs;
    if (tap.arcs && find("arc").options.length !== tap.arcs.length)
      find("arc").replaceChildren(...tap.arcs.map((name) => new Option(name.replace("_", " "), name)));
    this.#reach();
    const chosen = find("questions").querySelector("[aria-pressed=true]");
    this.#cue();
    find("questions").scrollLeft = chosen ? chosen.offsetLeft - find("questions").offsetLeft - 40 : 0;
    if (now) this.update();
  }

  // Whether questions lie out of sight to the right.
  #cue() {
    const { scrollWidth, clientWidth, scrollLeft, classList } = find("questions");
    classList.toggle("more", scrollWidth - clientWidth - scrollLeft > 4);
  }

  // Inches are asked for where the question or the ring drawn needs them.
  #reach() {
    const ringed = find("bands").getAttribute("aria-pressed") === "true" && !this.found.bands;
    find("reach-row").hidden = !(this.tap.reach_in || ringed);
    find("tools").classList.toggle("full", !find("reach-row").hidden || !find("arc").hidden);
    if (!find("reach").value) find("reach").value = this.tap.reach_in || 6;
  }

  #tapped(at) {
    if (!this.found || find("modes").hidden) return;
    const front = this.mode === "rule" && this.fronts.at(at);
    if (front) return void this.fronts.set(front);
    const piece = this.nearest(at);
    if (this.mode !== "rule") this.modes[this.mode].tapped(piece, at);
    else if (piece) this.pick(piece);
  }

  nearest(at) {
    return nearest(this.found.pieces, at, this.stage.scale);
  }

  // Have corrections applied, all of them anew, and show what comes of it. `change` makes them of those that hold
  // when their turn comes: what is corrected while the photo is still looked at is not refused.
  corrected(change, step = true) {
    this.correcting = (this.correcting ?? Promise.resolve()).catch(() => {}).then(() => this.#corrected(change, step));
    return this.correcting;
  }

  async #corrected(change, step) {
    this.busy("Looking again"); // the photo, where somebody pointed
    const before = this.found.fixes;
    try {
      const after = change(before);
      await api.correct(this.id, after, this.found.version);
      if (step) this.past.push(after.slice(before.length));
      else this.past.pop(); // not before: what could not be undone can be tried again
      await this.refresh();
    } catch (error) {
      if (error.status === 412) await this.refresh();
      if (error.after) await this.photos.catchUp(error.after);
      throw error;
    } finally {
      find("progress").hidden = true;
    }
  }

  // Go back by one step: what was changed together here, or the last correction of all. What others corrected since stays.
  async undo() {
    if (!this.found?.fixes.length) return;
    const complaint = await this.corrected((fixes) => this.#undone(fixes), false).catch((error) => error.message);
    if (this.mode !== "rule") this.modes[this.mode].enter();
    if (complaint) this.complain(complaint);
  }

  // Whoever taps again while the photo is still looked at is impatient, and takes back no second step.
  async #undoOnce() {
    const button = find("undo");
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true";
    await this.undo().finally(() => (button.ariaDisabled = null));
  }

  // The corrections without those of the last step made here.
  #undone(fixes) {
    const step = this.past.at(-1);
    if (!step) return fixes.slice(0, -1);
    try {
      return without(fixes, step);
    } catch (error) {
      this.past.pop(); // another press takes back the step before
      throw error;
    }
  }

  // The first base picked is measured from, every later one to.
  pick(piece) {
    if (piece.id === this.a?.id) [this.a, this.b] = [this.b, null];
    else if (!this.a) this.a = piece;
    else this.b = piece.id === this.b?.id ? null : piece;
    this.update();
  }

  question() {
    if (!this.a || !(this.b || this.#alone)) return null;
    const unit = (piece) => (this.tap.by_unit && piece.unit) || piece.id;
    const values = { A: unit(this.a), B: this.b && unit(this.b), ARC: find("arc").value, REACH: this.#inches };
    return Object.fromEntries(Object.entries(this.tap.ask).map(([key, value]) => [key, values[value] ?? value]));
  }

  // The inches that were typed; null where they can be none.
  get #inches() {
    return find("reach").checkValidity() ? Number(find("reach").value) : null;
  }

  // Whether the question is about one base: the ground round it, say.
  get #alone() {
    return !Object.values(this.tap.ask).includes("B");
  }

  // --- showing ---

  async update() {
    const turn = (this.turn = (this.turn || 0) + 1);
    this.#marks();
    find("after").hidden = !this.a;
    for (const name of ["swap", "closely"]) find(name).hidden = !this.b;
    if (this.b) this.ends = [this.a, this.b].map((piece) => piece.center_px).filter(Boolean);
    this.closeUp.hide();
    find("advice").hidden = true;
    find("why").hidden = true;
    this.#warn();
    const [question, drawn] = [this.question(), this.#around(turn)];
    if (!question || this.#frontless) ruled(find("ruling"), this.#hint());
    this.fronts.hide();
    if (this.#frontless) this.fronts.show(this.a, find("ruling"));
    const known = this.#unasked();
    const slow = question && !known && !this.#frontless && setTimeout(() => turn === this.turn && this.#waits(), SLOW_MS);
    const told = question && !this.#frontless && (known || (await api.rule(this.id, question, this.photos.shown).catch((error) => ({ error: error.message }))));
    clearTimeout(slow);
    if (turn !== this.turn) return;
    if (told && (told.version ?? this.found.version) !== this.found.version) return this.#anew();
    for (const name of ["line", "shades"]) this.stage[name].replaceChildren();
    for (const base of this.stage.bases.children) base.classList.remove("inside");
    this.#mark({});
    if (told) this.#show(told);
    await drawn;
    const asked = told && !told.error ? question : null;
    this.menu.links(asked);
    await this.photos.advise(asked, told);
  }

  // An answer to the question before is not read as one to this.
  #waits() {
    for (const name of ["line", "shades"]) this.stage[name].replaceChildren();
    this.#mark({});
    this.menu.links(null);
    ruled(find("ruling"), "Measuring…");
  }

  // What the photo's measuring complains of is read where the ruling is, a line each.
  #warn() {
    const lines = [...this.stood, ...this.found.problems].map((text) => element("li", {}, ...parts(inUnit(text))));
    find("warnings").replaceChildren(...lines);
    find("warnings").hidden = !lines.length;
  }

  // Somebody else has corrected the table: what is shown is never older than what is ruled on.
  async #anew() {
    await this.refresh();
    const words = "Somebody else has corrected this table: this is how it stands now.";
    find("ruling").append(Object.assign(document.createElement("p"), { className: "hint", textContent: words }));
  }

  #hint() {
    const count = this.found.pieces.length;
    if (!count) return "No bases were found. Add them under Correct.";
    return this.a ? `From A, ${this.a.name}: now tap the target` : "Tap the base to measure from";
  }

  #show(told) {
    const letters = { [this.a?.id]: "A", [this.b?.id]: "B" };
    ruled(find("ruling"), this.#lacking(told.error) || told, letters, (text) => this.named(text));
    const inside = new Set(told.answer?.pieces);
    for (const base of this.stage.bases.children) base.classList.toggle("inside", inside.has(base.dataset.id));
    find("why").hidden = !told.clauses;
    find("reasons").replaceChildren(...Object.values(told.clauses || {}).map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    this.stage.shades.append(...(told.shades || []).flatMap(shaded));
    this.stage.steady();
    if (!told.drawing) return;
    const { line, ends_px: ends } = told.drawing;
    this.stage.line.append(cased(line, "line", told.look));
    if (ends) {
      this.ends = ends;
      this.#mark({ line: ends, tag: inUnit(told.words.tag), colour: told.look.colour });
    }
    this.closeUp.show(this.id, this.found.photos, told.close_up, told.look, this.stage.least);
  }

  // What stands on the photo beside the bases: pins, pill, numbers of rings, marks of doubt.
  #mark(told) {
    const bases = this.found.pieces.filter((piece) => piece.center_px);
    const unsure = bases.filter((piece) => piece.doubt);
    const held = this.fronts.sides.map(({ place }) => place);
    this.labels.set({ rings: this.rings || [], ...told, held, a: this.a?.center_px && this.a, b: this.b?.center_px && this.b, unsure, bases });
  }

  // A sentence with the pieces' names in place of their ids.
  named(text) {
    const names = Object.fromEntries(this.found.pieces.map(({ id, name }) => [id, name]));
    return text.replace(/\bp\d+\b/g, (id) => names[id] ?? id);
  }

  // Whose profile a question needs and does not have, in the page's own words.
  #lacking(error) {
    const found = error?.match(/pieces\[(\d+)\]\.stats\.?(\w*)/);
    const piece = found && this.found.pieces[found[1]];
    return piece && lacks(piece, found[2]);
  }

  // The same, where it is known before the question is asked.
  #unasked() {
    if (this.tap.on_grid && !this.found.grid) return { error: NO_GRID };
    if (this.tap.reach_in && this.#inches === null) return { error: INCHES(find("reach")) };
    const needs = Object.entries(this.tap.needs || {}).map(([side, key]) => [side === "A" ? this.a : this.b, key]);
    const [piece, key] = needs.find(([one, name]) => one && one.stats?.[name] == null) || [];
    return piece && lacks(piece, key);
  }

  // An arc points nowhere while nobody has said which side of the ship is its front.
  get #frontless() {
    return Boolean(this.a?.fronts && this.tap.arcs);
  }

  drawBases() {
    const chosen = new Set([this.a?.id, this.b?.id]);
    this.stage.bases.replaceChildren(
      ...this.found.pieces.filter((piece) => piece.d).map((piece) => {
        const base = cased(piece.d, "base");
        base.dataset.id = piece.id;
        base.classList.toggle("on", chosen.has(piece.id));
        base.classList.toggle("doubted", Boolean(piece.doubt));
        return base;
      }),
    );
  }

  #marks() {
    const chosen = new Set([this.a?.id, this.b?.id]);
    for (const base of this.stage.bases.children) base.classList.toggle("on", chosen.has(base.dataset.id));
    this.#mark({});
  }

  // What lies round the first base: its range bands, its arc.
  async #around(turn) {
    const group = this.stage.bands;
    const [banded, aimed] = [find("bands").getAttribute("aria-pressed") === "true", this.tap.arcs];
    this.rings = [];
    if (!this.a || !(banded || aimed)) return group.replaceChildren();
    const reach = find("reach-row").hidden ? 0 : this.#inches;
    const rings = banded && reach !== null ? await api.bands(this.id, this.a.id, reach, this.photos.shown).catch(() => []) : [];
    const arcs = aimed && !this.#frontless ? await api.arcs(this.id, this.a.id, this.photos.shown).catch(() => []) : [];
    if (turn !== this.turn) return;
    this.rings = rings.map(({ name, marks_px: marks }) => ({ name, marks: this.#outermost(marks || []) }));
    const lines = arcs.filter((arc) => arc.name === find("arc").value).flatMap((arc) => arc.lines.map((d) => cased(d, "band arc")));
    group.replaceChildren(...rings.map((ring) => cased(ring.d, "band")), ...lines);
    this.labels.set({ ...this.labels.told, rings: this.rings });
  }

  // A ring's number stands where it is out of the way of the ruling.
  #outermost(marks) {
    const away = (mark) => (this.b?.center_px ? Math.hypot(mark[0] - this.b.center_px[0], mark[1] - this.b.center_px[1]) : -mark[1]);
    return marks.sort((one, other) => away(other) - away(one));
  }

  // --- buttons ---

  #buttons() {
    find("swap").onclick = () => {
      [this.a, this.b] = [this.b, this.a];
      this.update();
    };
    find("closely").onclick = () => this.#lookCloser();
    find("clear").onclick = () => {
      this.a = this.b = null;
      this.update();
    };
    find("bands").onclick = () => {
      find("bands").setAttribute("aria-pressed", find("bands").getAttribute("aria-pressed") !== "true");
      this.#reach();
      this.update();
    };
    for (const name of ["arc", "reach"]) find(name).onchange = () => this.update();
    find("questions").onscroll = () => this.#cue();
    new ResizeObserver(() => this.#cue()).observe(find("questions"));
    find("closer").onclick = () => this.stage.zoom(1.5);
    find("farther").onclick = () => this.stage.zoom(1 / 1.5);
    find("mode-rule").onclick = () => this.enter("rule");
    find("mode-correct").onclick = () => this.enter(this.mode === "correct" ? "rule" : "correct");
    find("mode-units").onclick = () => this.enter(this.mode === "units" ? "rule" : "units");
    find("mode-list").onclick = () => listed(this, find("bases"));
    find("undo").onclick = () => this.#undoOnce();
    find("gap").onclick = () => this.#lookCloser();
    document.onkeydown = (event) => this.#key(event);
    this.#keepReasonsInSight();
  }

  /** Scroll to the reasons that were asked for, and again where what lies above grows, until something else is done. */
  #keepReasonsInSight() {
    const why = find("why");
    let asked = false;
    const show = () => asked && why.scrollIntoView({ block: "nearest" });
    why.ontoggle = () => { asked = why.open; show(); };
    for (const kind of ["pointerdown", "wheel", "keydown"]) addEventListener(kind, () => { asked = false; }, { capture: true, passive: true });
    const sizes = new ResizeObserver(show);
    for (const name of ["gap", "ruling", "advice", "warnings", "why"]) sizes.observe(find(name));
  }

  // Look at the gap on the photo that shows it best.
  async #lookCloser() {
    find("sheet").scrollTop = 0; // the ruling itself is read beside the gap
    const best = this.closeUp.told?.photo ?? this.photos.shown;
    await this.photos.look(best);
    if (this.ends.length) this.stage.look(this.ends);
  }

  // Keys of a computer, where nobody types.
  #key(event) {
    if (!this.found || document.querySelector("dialog[open]") || event.target.closest("input, select, textarea")) return;
    const step = 60;
    const control = event.ctrlKey || event.metaKey;
    if (!control && this.modes[this.mode]?.key?.(event)) return event.preventDefault();
    const does = control
      ? { z: () => this.#undoOnce() }[event.key]
      : {
          "+": () => this.stage.zoom(1.25), "-": () => this.stage.zoom(0.8), 0: () => this.stage.fit(),
          ArrowLeft: () => this.stage.pan(step, 0), ArrowRight: () => this.stage.pan(-step, 0),
          ArrowUp: () => this.stage.pan(0, step), ArrowDown: () => this.stage.pan(0, -step),
          Escape: () => this.mode === "rule" ? find("clear").click() : this.enter("rule"),
        }[event.key];
    if (!does || event.defaultPrevented) return;
    event.preventDefault();
    does();
  }

  enter(mode) {
    this.modes[this.mode]?.leave();
    this.mode = mode;
    this.turn = (this.turn || 0) + 1; // an answer that still comes is not drawn over a correction
    for (const name of ["rule", "correct", "units"]) find(`mode-${name}`).setAttribute("aria-pressed", name === mode);
    for (const name of ["tools", "ruling", "after", "warnings", "advice"]) find(name).hidden = mode !== "rule";
    this.closeUp.hide();
    find("editing").hidden = mode === "rule";
    if (mode === "rule") return this.update();
    this.fronts.hide();
    for (const name of ["shades", "line", "bands", "marks"]) this.stage[name].replaceChildren();
    for (const base of this.stage.bases.children) base.classList.remove("inside");
    this.modes[mode].enter();
  }

  #hideAll() {
    for (const name of ["tools", "after", "warnings", "modes", "editing", "advice", "photos", "undo", "gap"]) find(name).hidden = true;
    for (const name of ["shades", "bands", "bases", "line", "marks", "hand"]) this.stage[name].replaceChildren();
    find("ruling").replaceChildren();
  }
}

// Why the photo is of none of the tables that are known here, where it is so.
const recognisedNone = (step) => (step.includes(MISFIT) ? UNKNOWN_BOARD : step.startsWith(UNSEEN) ? NO_MARKERS : "");

// Corrections without some of them. Later pieces would go by other names if one that was added before them went.
function without(fixes, step) {
  const [left, gone] = [[...fixes], step.map((fix) => JSON.stringify(fix))];
  for (const fix of gone.reverse()) {
    const at = left.findLastIndex((one) => JSON.stringify(one) === fix);
    if (at < 0) throw new Error(UNDONE);
    if (left[at].do === "add" && left.slice(at + 1).some((one) => one.do === "add")) throw new Error(ADDED_SINCE);
    left.splice(at, 1);
  }
  return left;
}

const lacks = (piece, key) => ({ error: `${piece.name} lacks its ${key.replace("_", " ") || "profile"}: tap it under Units, then Profile.` });
