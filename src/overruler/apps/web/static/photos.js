// Several photos of one table: adding one from another side, changing between them, taking the last one out again.

import * as api from "./api.js";
import { button, element, row } from "./forms.js";
import { remembered } from "./kept.js";
import { change, parts } from "./lengths.js";

const find = (name) => document.getElementById(name);
const notAdded = (why) => `The photo was not added: ${why}`;
const SENT_AGAIN_MS = 2000; // until a photo is sent again that came while another was on its way
const SLOW_MS = 400; // until it is said that a photo is loaded
const SAME_MM = 12; // a base is the same one within so much, whatever it is called after another photo

export class Photos {
  constructor(table) {
    this.table = table;
    this.shown = 0;
    find("add").onchange = (event) => {
      const [file] = event.target.files;
      event.target.value = "";
      if (file) this.add(file);
    };
    find("add-photo").onclick = () => find("add").click();
    find("take-out").onclick = () => this.takeOut();
  }

  // The number of a photo among those that were sent: what its address says.
  get number() {
    return this.table.found?.photos[this.shown]?.number ?? 1;
  }

  // --- adding ---

  async add(file) {
    const { table } = this;
    find("menu").close();
    find("advice").hidden = true;
    if (table.mode !== "rule") table.enter("rule");
    try {
      const { id } = await this.#sent(file);
      remembered("adding", id);
      if (!table.away) await this.#follow(id);
    } catch (error) {
      table.complain(notAdded(error.message));
      if (table.away) find("start-said").textContent = notAdded(error.message);
      if (error.unsent && !error.status) find("ruling").append(row(button("Send it again", () => this.add(file))));
    } finally {
      table.idle();
    }
  }

  // What somebody else adds comes first: it is waited for and shown, and this photo goes on top of it.
  async #sent(file) {
    const { table } = this;
    try {
      table.busy("Sending the photo", 0);
      return await table.carried(api.addPhoto(table.id, file, (share) => table.busy("Sending the photo", share)));
    } catch (error) {
      if (error.status !== 409) throw error;
      if (!error.after) return this.#sentLater(file);
      await api.watch(error.after, (news) => table.busy(`Somebody else added a photo: ${news.step}`)).catch(() => {});
      await this.catchUp(error.after);
      return this.#sent(file);
    }
  }

  // While somebody else's photo is on its way to the computer, nothing is known of it yet.
  async #sentLater(file) {
    this.table.busy("Somebody else is sending a photo");
    await new Promise((done) => setTimeout(done, SENT_AGAIN_MS));
    return this.#sent(file);
  }

  // Show the table with all photos that others have added.
  async catchUp(after) {
    const { table } = this;
    const newest = await api.newestOf(after).catch(() => null); // a photo that could not be joined is taken out again
    if (newest?.state === "done" && newest.id !== table.id) await this.#open(newest.id, [table.a, table.b]);
  }

  // Go on telling of a photo that was being added when the page was left.
  async resume() {
    const id = remembered("adding");
    const one = id && (await api.one(id).catch(() => null));
    if (one?.before === this.table.id) await this.#follow(id);
  }

  // Tell how the measuring with one photo more goes, then show what came of it.
  async #follow(id) {
    const { table } = this;
    const [before, pair] = [table.id, [table.a, table.b]];
    try {
      table.stage.root.classList.add("busy");
      const ended = await api.watch(id, (news) => table.busy(news.step));
      if (ended.state !== "done") throw new Error(ended.step);
      await this.#open(id, pair);
    } catch (error) {
      await api.takeOut(id).catch(() => {});
      table.id = before;
      table.complain(notAdded(error.message));
    } finally {
      remembered("adding", ""); // it may be taken out again, and is not looked for then
      table.idle();
    }
  }

  async takeOut() {
    const { table } = this;
    find("menu").close();
    try {
      const before = await api.takeOut(table.id);
      await this.#open(before.id, [table.a, table.b]);
    } catch (error) {
      if (error.after) await this.catchUp(error.after);
      table.complain(error.message);
    }
  }

  // Another measurement of the same table in place of this one; the pair stays chosen.
  async #open(id, pair) {
    const { table } = this;
    history.replaceState(null, "", `/m/${id}`);
    Object.assign(table, { id, local: null, found: null, past: [], a: null, b: null });
    this.shown = 0;
    await table.refresh(pair);
  }

  // --- changing between them ---

  async look(index) {
    const { table } = this;
    const { id, found } = table;
    const turn = (this.looks = (this.looks || 0) + 1);
    if (index === this.shown) return;
    await this.#loaded(api.photo(id, "", found.photos[index].number));
    if (turn !== this.looks || id !== table.id) return; // something else was asked for meanwhile
    this.shown = index;
    table.local = null;
    const mode = table.modes[table.mode];
    mode?.leave();
    await table.refresh();
    mode?.enter();
  }

  // Outlines lie over no other photo than their own: it comes first.
  async #loaded(source) {
    const { table } = this;
    const slow = setTimeout(() => table.busy("Loading the photo"), SLOW_MS);
    await table.stage.load(source);
    clearTimeout(slow);
    if (find("step").textContent === "Loading the photo") table.idle();
  }

  // Buttons for the photos, and what stands elsewhere in one of them.
  draw() {
    const { photos, moved } = this.table.found;
    const several = photos.length > 1;
    find("photos").hidden = !several;
    const buttons = photos.map((_, index) => {
      const one = button(String(index + 1), () => this.look(index), "round");
      one.setAttribute("aria-label", `Photo ${index + 1}`);
      one.setAttribute("aria-pressed", index === this.shown);
      return one;
    });
    find("photos").replaceChildren(...buttons);
    return moved.map(({ name, photo }) => `${name} stood elsewhere in photo ${photo + 1}`);
  }

  // --- advice ---

  // From where another photo would help this ruling, and what it would settle.
  async advise(question, told) {
    const box = find("advice");
    const turn = (this.turn = (this.turn || 0) + 1);
    box.hidden = true;
    if (!question || !told?.answer?.call || told.answer.call === "certain") return;
    const found = await api.advice(this.table.id, question).catch(() => null);
    if (turn !== this.turn) return;
    const words = found ? advised(found, this.table.found.unit) : "A photo from the other side of the table may settle it.";
    box.replaceChildren(element("p", { className: "hint" }, ...parts(words)), row(button("Add a photo", () => find("add").click())));
    box.hidden = Boolean(this.table.asked.points);
  }
}

function advised({ way, before_mm: before, after_mm: after, settles }, unit) {
  const effect = settles ? "would settle it" : "would make it surer";
  return `A photo ${way} ${effect}: ${change(before, after, unit)}.`;
}

// The piece that stands where another one stood.
export function samePlace(pieces, [x, y]) {
  const away = (piece) => Math.hypot(piece.place_mm[0] - x, piece.place_mm[1] - y);
  const nearest = pieces.reduce((best, piece) => (!best || away(piece) < away(best) ? piece : best), null);
  return nearest && away(nearest) <= SAME_MM ? nearest : null;
}
