// What viewers see, beside the table: the picture on air with the server's drawings over it.
import { Layers, thinned } from "/static/layers.js";

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
    const share = large ? state.frozen.box_px[2] / width : 1;
    this.close.style.setProperty("--shrink", share);
    this.close.setAttribute("class", large ? "large" : "");
    for (const name of MEASURED) this.layers.draw(name, (onAir && state.layers[name]) || "");
    thinned(this.close, share);
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

// The ruling on air as a film: making it takes seconds, and meanwhile the link says so.
export async function saveClip(link, say) {
  if (link.dataset.busy) return;
  link.dataset.busy = "yes";
  link.textContent = "Making the clip…";
  const answer = await fetch(link.getAttribute("href")).catch(() => null);
  if (answer?.ok) {
    const made = Object.assign(document.createElement("a"), { href: URL.createObjectURL(await answer.blob()), download: link.download });
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 60_000);
  }
  say(!answer ? "The server does not answer." : answer.ok ? "" : (await answer.json()).error);
  link.textContent = "Clip";
  delete link.dataset.busy;
}
