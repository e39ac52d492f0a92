// One photo: sending it, its bases, and the ruling between the two that are tapped.

import * as api from "./api.js";
import { Corners } from "./corners.js";
import { Correct } from "./correct.js";
import { Fronts } from "./fronts.js";
import { fill as listed } from "./list.js";
import { cased, make, pin, plate, shaded } from "./svg.js";
import { nearest } from "./stage.js";
import { ruled } from "./ruling.js";
import { Units } from "./units.js";

const find = (name) => document.getElementById(name);

export class Table {
  // `mat` is the size of the table in mm, where it is known.
  constructor(stage, known, asked, mat) {
    Object.assign(this, { stage, known, asked, mat, a: null, b: null, tap: null, mode: "rule" });
    this.modes = { correct: new Correct(this), units: new Units(this) };
    this.fronts = new Fronts(this);
    stage.onTap = (at) => this.#tapped(at);
    stage.onPlace = () => stage.scale > stage.least * 1.6 && this.id && this.found && !this.local && stage.sharpen(api.photo(this.id, "full"));
    this.#buttons();
    this.#hideAll();
  }

  // --- from the photo to its bases ---

  async sent(file, wish = this.asked) {
    this.#busy("Sending the photo", 0);
    this.local = await this.#preview(URL.createObjectURL(file));
    const taken = await api.send(file, wish, (share) => this.#busy("Sending the photo", share));
    this.id = taken.id;
    history.pushState(null, "", `/m/${this.id}`);
    await this.followed();
  }

  // A photo without markers: somebody shows the mat's corners in it before it is sent.
  async shown(file) {
    const local = URL.createObjectURL(file);
    await this.#preview(local);
    this.stage.root.classList.remove("busy");
    const measure = (points) => this.sent(file, { ...this.asked, points });
    await new Corners(this.stage, local, "", measure, this.mat).open();
  }

  async opened(one) {
    this.id = one.id;
    if (one.state !== "done") await this.#preview(api.photo(this.id));
    await this.followed();
  }

  // Tell how the measuring goes, then show what came of it.
  async followed() {
    this.#busy("Waiting for its turn");
    const ended = await api.watch(this.id, (news) => this.#busy(news.step));
    this.stage.root.classList.remove("busy");
    find("progress").hidden = true;
    if (ended.state === "done") return this.refresh();
    if (!ended.unmeasurable) throw new Error(ended.step);
    this.#hideAll();
    const again = (points) => this.#again(points);
    await new Corners(this.stage, api.photo(this.id, "full"), ended.step, again, this.mat).open();
  }

  async #again(points) {
    const taken = await api.again(this.id, { game: this.asked.game, points });
    this.id = taken.id;
    history.replaceState(null, "", `/m/${this.id}`);
    await this.followed();
  }

  async #preview(source) {
    const photo = new Image();
    photo.src = source;
    await photo.decode().catch(() => {});
    if (photo.naturalWidth) this.stage.show(source, [photo.naturalWidth, photo.naturalHeight]);
    this.stage.root.classList.add("busy");
    return photo.naturalWidth ? source : null; // what the browser cannot show, the server shows
  }

  #busy(text, share) {
    find("progress").hidden = false;
    find("step").textContent = text;
    if (share === undefined) find("how-far").removeAttribute("value");
    else find("how-far").value = share;
  }

  // Draw the table as the server has it now.
  async refresh() {
    const first = !this.found;
    this.found = await api.table(this.id);
    this.a = this.found.pieces.find((piece) => piece.id === this.a?.id) || null;
    this.b = this.found.pieces.find((piece) => piece.id === this.b?.id) || null;
    if (first) {
      this.stage.sharp = null;
      this.stage.show(this.local || api.photo(this.id), this.found.size_px);
    }
    this.#choose();
    find("modes").hidden = false;
    find("tools").hidden = this.mode !== "rule";
    this.drawBases();
    if (this.mode === "rule") await this.update();
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
    if (now) this.update();
  }

  // Inches are asked for where the question or the ring drawn needs them.
  #reach() {
    const ringed = find("bands").getAttribute("aria-pressed") === "true" && !this.found.bands;
    find("reach-row").hidden = !(this.tap.reach_in || ringed);
    if (!find("reach").value) find("reach").value = this.tap.reach_in || 6;
  }

  #tapped(at) {
    if (!this.found) return;
    const front = this.mode === "rule" && this.fronts.at(at);
    if (front) return void this.fronts.set(front);
    const piece = this.nearest(at);
    if (this.mode !== "rule") this.modes[this.mode].tapped(piece, at);
    else if (piece) this.pick(piece);
  }

  nearest(at) {
    return nearest(this.found.pieces, at, this.stage.scale);
  }

  // Have corrections applied, all of them anew, and show what comes of it.
  async corrected(fixes) {
    this.#busy("Looking again"); // the photo, where somebody pointed
    try {
      await api.correct(this.id, fixes, this.found.version);
      await this.refresh();
    } catch (error) {
      if (error.status === 412) await this.refresh();
      throw error;
    } finally {
      find("progress").hidden = true;
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
    const values = { A: unit(this.a), B: this.b && unit(this.b), ARC: find("arc").value, REACH: Number(find("reach").value) || 0 };
    return Object.fromEntries(Object.entries(this.tap.ask).map(([key, value]) => [key, values[value] ?? value]));
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
    if (this.b) this.ends = [this.a.center_px, this.b.center_px];
    find("why").hidden = true;
    this.#warn();
    const [question, drawn] = [this.question(), this.#around(turn)];
    if (!question || this.#frontless) ruled(find("ruling"), this.#hint());
    this.fronts.hide();
    if (this.#frontless) this.fronts.show(this.a, find("ruling"));
    const known = this.#unasked();
    const told = question && !this.#frontless && (known || (await api.rule(this.id, question).catch((error) => ({ error: error.message }))));
    if (turn !== this.turn) return;
    if (told && (told.version ?? this.found.version) !== this.found.version) return this.#anew();
    for (const name of ["line", "shades"]) this.stage[name].replaceChildren();
    if (told) this.#show(told);
    await drawn;
    this.#links(told && !told.error ? question : null);
  }

  // What the photo's measuring complains of is read where the ruling is, a line each.
  #warn() {
    const lines = this.found.problems.map((text) => Object.assign(document.createElement("li"), { textContent: text }));
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
    return this.a ? `From ${this.a.id}: now tap the target` : "Tap the base to measure from";
  }

  #show(told) {
    ruled(find("ruling"), this.#lacking(told.error) || told);
    find("why").hidden = !told.clauses;
    find("reasons").replaceChildren(...Object.values(told.clauses || {}).map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    this.stage.shades.append(...(told.shades || []).flatMap(shaded));
    this.stage.steady();
    if (!told.drawing) return;
    const { line, ends_px: ends } = told.drawing;
    const middle = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
    this.stage.line.append(cased(line, "line", told.look), plate(told.words.tag, middle, "plate", told.look.colour));
    this.stage.steady();
  }

  // Whose profile a question needs and does not have, in the page's own words.
  #lacking(error) {
    const found = error?.match(/pieces\[(\d+)\]\.stats\.?(\w*)/);
    const piece = found && this.found.pieces[found[1]];
    return piece && lacks(piece, found[2]);
  }

  // The same, where it is known before the question is asked.
  #unasked() {
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
      ...this.found.pieces.map((piece) => {
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
    this.stage.marks.replaceChildren(...[this.a && pin("A", this.a), this.b && pin("B", this.b)].filter(Boolean));
    this.stage.steady();
  }

  // What lies round the first base: its range bands, its arc.
  async #around(turn) {
    const group = this.stage.bands;
    const [banded, aimed] = [find("bands").getAttribute("aria-pressed") === "true", this.tap.arcs];
    if (!this.a || !(banded || aimed)) return group.replaceChildren();
    const reach = find("reach-row").hidden ? 0 : Number(find("reach").value);
    const rings = banded ? await api.bands(this.id, this.a.id, reach).catch(() => []) : [];
    const arcs = aimed && !this.#frontless ? await api.arcs(this.id, this.a.id).catch(() => []) : [];
    if (turn !== this.turn) return;
    const drawn = rings.flatMap((ring) => [cased(ring.d, "band"), ...this.#numbers(ring)]);
    const lines = arcs.filter((arc) => arc.name === find("arc").value).flatMap((arc) => arc.lines.map((d) => cased(d, "band arc")));
    group.replaceChildren(...drawn, ...lines);
    this.stage.steady();
  }

  // A ring's number stands where it is out of the way of the ruling.
  #numbers(ring) {
    const away = (mark) => (this.b ? Math.hypot(mark[0] - this.b.center_px[0], mark[1] - this.b.center_px[1]) : -mark[1]);
    const marks = [...ring.marks_px].sort((one, other) => away(other) - away(one));
    return marks.length ? [plate(ring.name, marks[0])] : [];
  }

  #links(question) {
    find("save-picture").href = api.picture(this.id, question);
    find("save-bundle").href = api.bundle(this.id, question);
    find("save-scene").href = api.scene(this.id);
    find("save-scene").download = `overruler-${this.id}.json`;
    find("save-bundle").parentElement.hidden = !question;
  }

  // --- buttons ---

  #buttons() {
    find("swap").onclick = () => {
      [this.a, this.b] = [this.b, this.a];
      this.update();
    };
    find("closely").onclick = () => this.stage.look(this.ends);
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
    find("closer").onclick = () => this.stage.zoom(1.5);
    find("farther").onclick = () => this.stage.zoom(1 / 1.5);
    find("mode-rule").onclick = () => this.enter("rule");
    find("mode-correct").onclick = () => this.enter(this.mode === "correct" ? "rule" : "correct");
    find("mode-units").onclick = () => this.enter(this.mode === "units" ? "rule" : "units");
    find("mode-list").onclick = () => listed(this, find("bases"));
    find("more").onclick = () => this.#menu();
    find("forget").onclick = () => this.#forget();
    find("share").onclick = () => this.#share();
  }

  enter(mode) {
    this.modes[this.mode]?.leave();
    this.mode = mode;
    for (const name of ["rule", "correct", "units"]) find(`mode-${name}`).setAttribute("aria-pressed", name === mode);
    for (const name of ["tools", "ruling", "after", "warnings"]) find(name).hidden = mode !== "rule";
    find("editing").hidden = mode === "rule";
    if (mode === "rule") return this.update();
    this.fronts.hide();
    for (const name of ["shades", "line", "bands", "marks"]) this.stage[name].replaceChildren();
    this.modes[mode].enter();
  }

  #hideAll() {
    for (const name of ["tools", "after", "warnings", "modes", "editing"]) find(name).hidden = true;
    for (const name of ["shades", "bands", "bases", "line", "marks", "hand"]) this.stage[name].replaceChildren();
    find("ruling").replaceChildren();
  }

  #menu() {
    find("code").hidden = true;
    for (const name of ["save-picture", "save-scene", "save-bundle"]) find(name).toggleAttribute("hidden", !this.found);
    find("menu").showModal();
  }

  async #share() {
    const told = await api.link(this.id).catch((error) => ({ url: error.message, path: "", size: 0 }));
    const alone = "Only this computer can open this page. Start it as “overruler serve --lan” to let phones in.";
    if (told.this_machine_only) Object.assign(told, { url: alone, size: 0 });
    const words = Object.assign(document.createElement("p"), { className: "hint", textContent: told.url });
    const code = make("svg", { viewBox: `-4 -4 ${told.size + 8} ${told.size + 8}` }, make("path", { d: told.path, transform: "translate(0 .5)" }));
    find("code").replaceChildren(...(told.size ? [code] : []), words);
    find("code").hidden = false;
  }

  async #forget() {
    if (find("forget").dataset.sure !== this.id) {
      find("forget").dataset.sure = this.id;
      find("forget").textContent = "Tap again: it cannot be undone";
      return;
    }
    await api.forget(this.id).catch(() => {});
    location.href = "/";
  }
}

const lacks = (piece, key) => ({ error: `${piece.id} lacks its ${key.replace("_", " ") || "profile"}: tap it under Units, then Profile.` });
