// SVG elements, and lines that show on any ground.

const SVG = "http://www.w3.org/2000/svg";

export function make(name, attributes = {}, ...children) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...children);
  return found;
}

export function cased(d, kind, core) {
  const lines = ["out", "mid", "core"].map((name) => make("path", { d, class: name }));
  if (core) lines[2].style.stroke = core.colour;
  if (core && core.dash.length) lines[2].style.strokeDasharray = core.dash.map((part) => part * 3.2).join(" ");
  if (!core && kind !== "base") lines.pop();
  return make("g", { class: kind }, ...lines);
}

// Letters that can be read on a colour (#rrggbb): white, or black where white is too pale. As ink_on in picture/svg.py.
function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.3 ? "#0b0d10" : "#fff";
}

// How much larger than usual the browser's letters are set.
export const enlarged = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

// A word on a plate, at a place of the photo; `data-at` keeps its size on the screen when the photo is zoomed.
export function plate(text, [x, y], kind = "plate", colour = "") {
  const wide = Math.max(24, text.length * 7.4 + 16);
  const box = make("rect", { x: -wide / 2, y: -11, width: wide, height: 22, rx: 7 });
  if (colour) box.style.fill = colour;
  const words = make("text", {});
  if (colour) words.style.fill = inkOn(colour);
  words.textContent = text;
  return make("g", { class: kind, "data-at": `${x} ${y}` }, box, words);
}

// Ground that an answer is about: light fills, an outline that shows on any mat, and its words.
export function shaded({ colour, fills, outline, words }) {
  const areas = fills.map(({ d, opacity }) => make("path", { d, fill: colour, "fill-opacity": opacity, "fill-rule": "evenodd" }));
  const group = make("g", { class: "shade" }, ...areas);
  return [group, cased(outline, "border", { colour, dash: [] }), ...words.map(({ text, at_px }) => plate(text, at_px))];
}

// A letter beside a base, so that the base itself stays in sight: its tip at a place, its disc `far` away in a direction.
export function pin(letter, [x, y], way, far) {
  const [dx, dy] = [Math.cos((way * Math.PI) / 180) * far, Math.sin((way * Math.PI) / 180) * far];
  const words = make("text", { x: dx, y: dy });
  words.textContent = letter;
  const drop = make("path", { d: `M3 0L${far - 9} -7V7Z`, transform: `rotate(${way})` });
  return make("g", { class: "pin", "data-at": `${x} ${y}` }, drop, make("circle", { cx: dx, cy: dy, r: 12 }), words);
}

// A mark at a base of which something is not sure.
export function badge(sign, [x, y], radius) {
  const words = make("text", {});
  words.textContent = sign;
  return make("g", { class: "badge", "data-at": `${x} ${y}` }, make("circle", { r: radius - 0.5 }), words);
}

export function icon(look) {
  const found = make("svg", { viewBox: "-1.1 -1.1 2.2 2.2", "aria-hidden": "true" });
  const disc = make("circle", { r: 1 });
  disc.style.fill = look.colour;
  disc.style.stroke = "none";
  const lines = make("path", { d: look.icon });
  lines.style.stroke = "#fff";
  lines.style.strokeWidth = "0.2";
  found.append(disc, lines);
  return found;
}
