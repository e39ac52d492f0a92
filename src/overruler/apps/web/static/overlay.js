// The page that lies on the camera's picture. It draws what it is sent and knows nothing else.
import { listen } from "/static/air.js";

const asked = new URLSearchParams(location.search);
const shown = new Set((asked.get("show") || "bands,lines,verdict").split(","));
const delay = Math.min(Math.max(Number(asked.get("delay")) || 0, 0), 10000);
const at = (id) => document.getElementById(id);
const last = {};

document.body.classList.toggle("matte", asked.get("matte") === "1");
for (const theme of (asked.get("theme") || "").split(",")) if (["plain", "slim"].includes(theme)) document.body.classList.add(theme);

function draw(name, text) {
  if (last[name] === text) return;
  last[name] = text;
  const parsed = new DOMParser().parseFromString(`<svg xmlns="http://www.w3.org/2000/svg">${text}</svg>`, "image/svg+xml");
  at(name).replaceChildren(...[...parsed.documentElement.childNodes].map((node) => document.importNode(node, true)));
}

function still(frozen, [width, height]) {
  const image = at("still");
  if (!frozen || !(shown.has("still") || shown.size > 2)) { image.removeAttribute("href"); return; }
  const key = asked.get("key");
  image.setAttribute("width", width);
  image.setAttribute("height", height);
  image.setAttribute("href", `/api/live/frozen.jpg?n=${frozen.number}${key ? `&key=${encodeURIComponent(key)}` : ""}`);
}

listen((state, onAir) => {
  const [width, height] = state.size_px, box = state.frozen?.large ? state.frozen.box_px : null;
  for (const name of ["bands", "lines", "verdict"]) draw(name, (onAir && shown.has(name) && state.layers[name]) || "");
  still(onAir ? state.frozen : null, state.size_px);
  at("stage").classList.toggle("large", Boolean(box));
  at("stage").setAttribute("viewBox", (box || [0, 0, width, height]).join(" "));
  at("words").setAttribute("viewBox", `0 0 ${width} ${height}`);
  for (const id of ["stage", "words"]) at(id).toggleAttribute("hidden", !onAir);
  document.documentElement.dataset.version = state.version;
  document.documentElement.dataset.air = onAir ? "on" : "off";
}, delay);
