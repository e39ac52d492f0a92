// What viewers see, beside the table: the picture on air with the server's drawings over it.
import { Layers } from "/static/layers.js";

const MEASURED = ["bands", "lines", "verdict"];
const at = (id) => document.getElementById(id);

export class Air {
  constructor(svg) {
    const groups = Object.fromEntries([...MEASURED, "show"].map((name) => [name, document.createElementNS("http://www.w3.org/2000/svg", "g")]));
    this.close = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.close.append(groups.bands, groups.lines);
    svg.append(this.close, groups.verdict, groups.show);
    Object.assign(this, { svg, layers: new Layers((name) => groups[name]), frozen: 0 });
  }

  show(state, onAir, linked) {
    const [width, height] = state.size_px, large = state.frozen?.large && onAir;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.close.setAttribute("viewBox", (large ? state.frozen.box_px : [0, 0, width, height]).join(" "));
    this.close.setAttribute("class", large ? "large" : "");
    for (const name of MEASURED) this.layers.draw(name, (onAir && state.layers[name]) || "");
    this.layers.draw("show", (linked && state.layers.show) || "");
    this.#still(onAir ? state.frozen : null, width, height);
    const drawn = ["bands", "arcs", "grounds", "shadows"].some((kind) => state[kind].length);
    const shows = Boolean(onAir && (state.ruling || drawn || state.frozen));
    at("air").toggleAttribute("data-on", shows);
    at("tally").textContent = !linked ? "No server" : shows ? tally(state.frozen) : state.layers.show ? "Show only" : "Nothing on air";
  }

  // A picture that is held lies over the camera's, cut as viewers see it.
  #still(frozen, width, height) {
    if ((frozen?.number ?? 0) === this.frozen) return;
    this.frozen = frozen?.number ?? 0;
    this.close.querySelector("image")?.remove();
    if (!frozen) return;
    const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
    for (const [key, value] of Object.entries({ width, height, href: `/api/live/frozen.jpg?n=${frozen.number}` })) image.setAttribute(key, value);
    this.close.prepend(image);
  }

  picture(source) {
    at("behind").src = source;
  }
}

const tally = (frozen) => (!frozen ? "On air" : frozen.replay ? "On air: replay" : frozen.large ? "On air: close" : "On air: frozen");
