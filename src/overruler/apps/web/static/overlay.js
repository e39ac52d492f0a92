// The page that lies on the camera's picture. It draws what it is sent and knows nothing else.
import { listen } from "/static/air.js";
import { Layers, thinned } from "/static/layers.js";

const MEASURED = ["bands", "lines", "verdict"];
const asked = new URLSearchParams(location.search);
const shown = new Set((asked.get("show") || [...MEASURED, "show"].join(",")).split(","));
const delay = Math.min(Math.max(Number(asked.get("delay")) || 0, 0), 10000);
const at = (id) => document.getElementById(id);
const layers = new Layers(at);
let replayed = 0;

document.body.classList.toggle("matte", asked.get("matte") === "1");
for (const theme of (asked.get("theme") || "").split(",")) if (["plain", "slim"].includes(theme)) document.body.classList.add(theme);

function still(frozen, [width, height]) {
  const image = at("still");
  if (!frozen || !(shown.has("still") || shown.size > 2)) { image.removeAttribute("href"); return; }
  const key = asked.get("key");
  image.setAttribute("width", width);
  image.setAttribute("height", height);
  image.setAttribute("href", `/api/live/frozen.jpg?n=${frozen.number}${key ? `&key=${encodeURIComponent(key)}` : ""}`);
}

function replay(frozen) {
  document.body.classList.toggle("replay", Boolean(frozen?.replay));
  if (!frozen?.replay || frozen.number === replayed) return;
  replayed = frozen.number;
  for (const name of MEASURED) layers.again(name);
}

listen((state, onAir, linked) => {
  const [width, height] = state.size_px, box = state.frozen?.large ? state.frozen.box_px : null;
  for (const name of MEASURED) layers.draw(name, (onAir && shown.has(name) && state.layers[name]) || "", true);
  layers.draw("show", (linked && shown.has("show") && state.layers.show) || "", true);
  still(onAir ? state.frozen : null, state.size_px);
  replay(onAir ? state.frozen : null);
  at("stage").classList.toggle("large", Boolean(box));
  at("stage").style.setProperty("--shrink", box ? box[2] / width : 1);
  thinned(at("stage"), box ? box[2] / width : 1);
  at("stage").setAttribute("viewBox", (box || [0, 0, width, height]).join(" "));
  for (const id of ["words", "told"]) at(id).setAttribute("viewBox", `0 0 ${width} ${height}`);
  for (const id of ["stage", "words"]) at(id).toggleAttribute("hidden", !onAir);
  at("told").toggleAttribute("hidden", !linked);
  document.documentElement.dataset.version = state.version;
  document.documentElement.dataset.air = onAir ? "on" : "off";
}, delay);
