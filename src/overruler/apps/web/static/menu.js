// What is done with a table as a whole: files to keep, sharing, a photo more, units of length, deleting it.

import * as api from "./api.js";
import { fillGames } from "./forms.js";
import { UNITS, choose, unit } from "./lengths.js";
import { remembered } from "./kept.js";
import { make } from "./svg.js";

const find = (name) => document.getElementById(name);
const THINK_MS = 700; // a double tap is no answer to what its first tap asks
const DELETE = "Delete this photo and all of it";
const DELETE_ALL = "Delete these photos and all that is kept of them";
const ALONE = "Only this computer can open this page. Start it as “overruler serve --lan” to let phones in.";

export class Menu {
  constructor(table) {
    this.table = table;
    find("more").onclick = () => this.#open();
    find("forget").onclick = () => this.#forget();
    find("share").onclick = () => this.#code();
    find("send").onclick = () => this.#send();
    find("unit").replaceChildren(...UNITS.map(([value, words]) => new Option(words, value)));
    find("unit").value = unit();
    find("unit").onchange = () => {
      choose(find("unit").value);
      table.update();
    };
  }

  #open() {
    find("other-game").parentElement.hidden = !this.table.measuredBy();
    fillGames(find("other-game"), this.table.known.games, this.table.asked.game);
    find("other-game").onchange = () => {
      find("menu").close();
      remembered("game", find("other-game").value);
      this.table.otherGame(find("other-game").value).catch((error) => this.table.complain(error.message));
    };
    find("code").hidden = true;
    delete find("forget").dataset.sure; // who opens the menu again has not just been warned
    find("forget").textContent = this.table.found?.photos.length > 1 ? DELETE_ALL : DELETE;
    find("send-said").textContent = "";
    find("send").parentElement.hidden = !navigator.share || !this.table.found;
    for (const name of ["save-picture", "save-scene", "add-photo"]) find(name).parentElement.hidden = !this.table.found;
    find("save-bundle").parentElement.hidden = !this.table.found || !this.question;
    find("take-out").parentElement.hidden = !(this.table.found?.photos.length > 1);
    find("add-photo").parentElement.hidden ||= Boolean(this.table.asked.points);
    find("menu").showModal();
  }

  // Where the files of the ruling on a question are.
  links(question) {
    const { id } = this.table;
    this.question = question;
    find("save-picture").href = api.picture(id, question);
    find("save-bundle").href = api.bundle(id, question);
    find("save-scene").href = api.scene(id);
    find("save-scene").download = `overruler-${id}.json`;
  }

  // The system's own sheet: the picture with the ruling where it takes files, else the link.
  async #send() {
    const { id } = this.table;
    const text = find("ruling").querySelector(".headline")?.textContent || "Overruler";
    try {
      const picture = await (await fetch(api.picture(id, this.question))).blob();
      const files = [new File([picture], `overruler-${id}.png`, { type: picture.type })];
      if (navigator.canShare?.({ files })) await navigator.share({ files, text });
      else await navigator.share({ text, url: (await api.link(id)).url });
    } catch (error) {
      if (error.name !== "AbortError") find("send-said").textContent = error.message;
    }
  }

  async #code() {
    const told = await api.link(this.table.id).catch((error) => ({ url: error.message, path: "", size: 0 }));
    if (told.this_machine_only) Object.assign(told, { url: ALONE, size: 0 });
    const words = Object.assign(document.createElement("p"), { className: "hint", textContent: told.url });
    const code = make("svg", { viewBox: `-4 -4 ${told.size + 8} ${told.size + 8}`, role: "img", "aria-label": "The link as a code to scan" }, make("path", { d: told.path, transform: "translate(0 .5)" }));
    find("code").replaceChildren(...(told.size ? [code] : []), words);
    find("code").hidden = false;
  }

  async #forget() {
    const { id } = this.table;
    if (find("forget").ariaDisabled) return;
    if (find("forget").dataset.sure !== id) {
      find("forget").dataset.sure = id;
      find("forget").textContent = "Tap again: it cannot be undone";
      find("forget").ariaDisabled = "true";
      setTimeout(() => (find("forget").ariaDisabled = null), THINK_MS);
      return;
    }
    try {
      await api.forget(id);
    } catch (error) {
      if (error.status !== 404) return void (find("send-said").textContent = `It was not deleted: ${error.message}`);
    }
    location.href = "/";
  }
}
