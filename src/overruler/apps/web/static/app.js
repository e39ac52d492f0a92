// The start: what is on the table, and a photo of it. Then the photo, and all that is asked of it.

import * as api from "./api.js";
import { fillGames } from "./forms.js";
import { remembered } from "./kept.js";
import { Stage } from "./stage.js";
import { Table } from "./table.js";
import { holdSecondTaps } from "./taps.js";

const find = (name) => document.getElementById(name);
const RECOGNISED = "(known markers)";
const ANYWHERE = "(markers anywhere)";
const CORNERS = "(no markers: I show the corners)";
const SHOWN = "places shown by hand"; // a table without markers: photos cannot join there
const known = await api.about().catch((error) => ({ error: error.message, games: [], tables: [], lenses: [] }));
const stage = new Stage(find("stage"));
let table = null;
let lost = null; // a photo that did not get through

// --- the start ---

function fill(select, names, kept) {
  select.replaceChildren(...names.map(([value, text]) => new Option(text, value)));
  if (kept && names.some(([value]) => value === kept)) select.value = kept;
}

function start() {
  fillGames(find("game"), known.games, remembered("game"));
  const tables = [RECOGNISED, ...known.tables, ANYWHERE, CORNERS].map((name) => [name, named(name)]);
  fill(find("table"), tables, remembered("table"));
  fill(find("lens"), [["", "found from the photo"], ...known.lenses.map((name) => [name, name])], remembered("lens"));
  find("marker").value = remembered("marker") || 60;
  find("lens-row").hidden = !known.lenses.length;
  find("table").onchange = () => (find("marker-row").hidden = find("table").value !== ANYWHERE);
  find("table").onchange();
  for (const name of ["take", "choose"]) find(name).onchange = (event) => taken(event.target);
  find("start-said").textContent = known.error || "";
}

const named = (name) =>
  ({ [RECOGNISED]: "Markers: found in the photo", [ANYWHERE]: "Markers anywhere, of one size", [CORNERS]: "No markers: I show the corners" })[name] || `Markers: ${name}`;

async function earlier() {
  const found = await api.newest().catch(() => []);
  find("earlier").hidden = !found.length;
  find("list").replaceChildren(...found.slice(0, 12).map(entry));
}

function entry(one) {
  const link = document.createElement("a");
  link.href = `/m/${one.id}`;
  const picture = new Image();
  picture.alt = "";
  picture.loading = "lazy";
  picture.src = api.photo(one.id);
  const words = document.createElement("span");
  const small = document.createElement("small");
  const when = new Date(one.created_s * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  words.textContent = title(one);
  small.textContent = `${when} · ${outcome(one)}`;
  words.append(small);
  link.append(picture, words);
  const item = document.createElement("li");
  item.append(link);
  return item;
}

// What came of a photo, in short: why it was not measured is told where it is opened.
const outcome = ({ state, step, pieces, photos }) =>
  state === "done" ? `${pieces} bases${photos > 1 ? `, ${photos} photos` : ""}` : state === "failed" ? "not measured" : step;

// The table is named once it was measured: a photo whose markers are to tell the table is tried by the first board known.
const title = (one) => {
  const game = known.games.find(({ name }) => name === one.game)?.title || one.game;
  return one.state && one.state !== "done" ? game : `${game} · ${one.table}`;
};

const titled = (one) => (find("title").textContent = title(one));

// The size of a table that was chosen by name.
const mat = (name) => known.table_sizes_mm?.[name];

function wish() {
  const [game, choice, lens] = [find("game").value, find("table").value, find("lens").value];
  const said = { game, ...(lens ? { lens } : {}) }; // the corners come later, where there are no markers
  for (const [key, value] of Object.entries({ game, table: choice, lens, marker: find("marker").value })) remembered(key, value);
  if (mat(choice)) remembered("board", choice);
  if (choice === CORNERS) return said;
  if (choice === ANYWHERE) return { ...said, marker_mm: find("marker").value };
  return { ...said, ...(choice === RECOGNISED ? { markers: "known" } : { table: choice }) };
}

async function taken(input) {
  const file = input.files[0];
  input.value = "";
  if (file) await received(file);
}

async function received(file) {
  if (file.size > known.most_bytes)
    return void (find("start-said").textContent = `The photo is larger than ${known.most_bytes / 1e6} MB: save it as JPEG of 12 megapixels, or set the camera to that.`);
  const side = find("marker");
  if (find("table").value === ANYWHERE && !side.checkValidity()) {
    side.focus();
    return void (find("start-said").textContent = `Measure the side of a marker's black square, and type it: ${side.min} to ${side.max} mm.`);
  }
  find("start-said").textContent = "";
  lost = null;
  unsent()?.close();
  if (table) table.left = true;
  const asked = wish();
  history.pushState({ photo: true }, "", "/"); // who goes back is at the start, and the photo is sent all the same
  show("photo");
  titled({ game: asked.game, state: "sent" });
  const mine = (table = new Table(stage, known, asked, mat(asked.table || remembered("board"))));
  Object.assign(table, { titled, onSent });
  await (find("table").value === CORNERS ? table.shown(file) : table.sent(file)).catch((error) => {
    if (error.unsent && !(error.status < 500)) lost = file; // else it is no photo
    if (mine.left) find("start-said").textContent = error.message;
    else refused(error);
  });
}

// Whoever waits at the start sees what came of a photo.
function onSent() {
  if (find("photo").hidden) show("start");
}

// A photo dropped or pasted is sent, or added to the table that is shown.
function dropped(event, files) {
  // A browser does not know the type of every photo (HEIC, say): the server looks at it, and says what it is not.
  const file = [...files].find(({ type }) => type.startsWith("image/")) ?? files[0];
  if (!file) return;
  event.preventDefault();
  if (find("photo").hidden) received(file);
  else if (table?.found && !table.asked.points) table.photos.add(file);
}

function refused(error) {
  history.replaceState(null, "", "/");
  show("start");
  find("start-said").textContent = error.message;
  find("start-said").scrollIntoView({ block: "center" });
}

// --- which of the two is shown ---

function show(name) {
  for (const other of ["start", "photo"]) find(other).hidden = other !== name;
  if (name !== "start") return;
  find("unsent").hidden = !(unsent() || table?.sending || lost);
  find("unsent").textContent = unsent() ? "Go on with the corners of your photo" : table?.sending ? "Go on with your photo: it is being sent" : "Send your photo again";
  earlier();
}

// The corners that are being shown in a photo which only this page has.
const unsent = () => (table?.corners?.isOpen ? table.corners : null);

// What only this page has: it would be lost with it.
const held = () => unsent()?.moved || api.sending() || lost;

// Going back from a photo loses nothing: it waits at the start, or is sent on.
function travelled() {
  const here = location.pathname === `/m/${table?.id}` || (history.state?.photo && (unsent() || table?.sending));
  if (!(unsent() || held()) || (location.pathname !== "/" && !here)) location.reload();
  else show(here ? "photo" : "start");
}

async function open() {
  const id = location.pathname.match(/^\/m\/([a-z0-9]+)$/)?.[1];
  history.replaceState(null, "", location.pathname); // the key is in the cookie now
  if (!id) return show("start");
  show("photo");
  try {
    const one = await api.newestOf(id); // a photo may have been added since
    history.replaceState(null, "", `/m/${one.id}`);
    titled(one);
    table = new Table(stage, known, { game: one.game, points: one.table === SHOWN }, mat(one.by_markers && one.state !== "done" ? remembered("board") : one.table));
    Object.assign(table, { titled, onSent });
    await table.opened(one);
    if (table.found) await table.photos.resume();
  } catch (error) {
    refused(error);
  }
}

for (const dialog of document.querySelectorAll("dialog")) {
  dialog.querySelector("[data-close]").onclick = () => dialog.close();
  // A handler that returns false stops the click itself: the links in a dialog must go on to download.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => dropped(event, event.dataTransfer.files));
addEventListener("paste", (event) => dropped(event, event.clipboardData.files));
addEventListener("popstate", travelled);
addEventListener("beforeunload", (event) => held() && event.preventDefault()); // the browser asks whether to leave
find("unsent").onclick = () => {
  if (!unsent() && !table?.sending) return void received(lost);
  history.pushState({ photo: true }, "", table.id ? `/m/${table.id}` : "/");
  show("photo");
};
document.querySelector(".bar a").onclick = () => {
  if (!unsent() && !held()) return true;
  if (history.state?.photo) history.back();
  else {
    history.pushState(null, "", "/");
    show("start");
  }
  return false;
};
holdSecondTaps();
start();
await open();
document.documentElement.dataset.ready = "true";
