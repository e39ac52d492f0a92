// The server's drawings put into a page: only what has changed is replaced, and what is new eases in.

const EASES_OUT_MS = 220;
const blobs = new Map();
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// A picture inside a drawing comes as text; the page may show it as a blob only.
function unpacked(image) {
  const address = image.getAttribute("href"), [, kind, data] = /^data:([\w/]+);base64,(.*)$/.exec(address) ?? [];
  if (!data) return;
  if (!blobs.has(address)) {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    blobs.set(address, URL.createObjectURL(new Blob([bytes], { type: kind })));
  }
  image.setAttribute("href", blobs.get(address));
}

function parsed(text) {
  const found = new DOMParser().parseFromString(`<svg xmlns="http://www.w3.org/2000/svg">${text}</svg>`, "image/svg+xml");
  const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
  group.append(...[...found.documentElement.childNodes].map((node) => document.importNode(node, true)));
  for (const image of group.querySelectorAll("image")) unpacked(image);
  return group;
}

// Lines keep their width on the screen where no more than a share of the picture is shown, enlarged.
export function thinned(drawing, share) {
  for (const line of drawing.querySelectorAll("path[stroke-width]")) {
    if (line.closest(".upright")) continue; // it keeps its size as a whole
    for (const name of ["stroke-width", "stroke-dasharray"]) {
      const lengths = line.getAttribute(name)?.match(/[\d.]+/g) ?? [];
      if (share === 1) line.style.removeProperty(name);
      else if (lengths.length) line.style.setProperty(name, lengths.map((length) => `${length * share}px`).join(" "));
    }
  }
}

export class Layers {
  constructor(at) {
    Object.assign(this, { at, last: {} });
  }

  // Put a drawing in place of the last; with `eases` the old one fades while the new one comes in.
  draw(name, text, eases = false) {
    if (this.last[name] === text) return;
    const before = this.last[name], layer = this.at(name);
    this.last[name] = text;
    const old = [...layer.children].filter((one) => !one.classList.contains("leaves"));
    const moves = eases && !calm.matches;
    for (const one of old) {
      if (!moves || !before || text) { one.remove(); continue; }
      one.classList.add("leaves");
      setTimeout(() => one.remove(), EASES_OUT_MS);
    }
    if (!text) return;
    const group = parsed(text);
    if (moves && !before) group.classList.add("comes");
    layer.append(group);
  }

  // Let a drawing come in once more.
  again(name) {
    const text = this.last[name];
    this.last[name] = "";
    this.at(name).replaceChildren();
    this.draw(name, text ?? "", true);
  }
}
