// Double taps: the second is meant for what lay under the first, never for what has come there since.

const AGAIN_MS = 400;
const NEAR_PX = 30;

// Whether a tap is the second of two at one place; each tap is told once.
export class Taps {
  #last = null;

  again({ timeStamp: at, clientX: x, clientY: y }) {
    const last = this.#last;
    this.#last = { at, x, y };
    return Boolean(last) && at - last.at < AGAIN_MS && Math.hypot(x - last.x, y - last.y) < NEAR_PX;
  }
}

// A click by a key has no place, and counts always.
export function holdSecondTaps() {
  const taps = new Taps();
  let first = null;
  const held = (event) => {
    if (!event.detail) return;
    const again = taps.again(event), before = first;
    first = event.target;
    if (!again || !before || before.contains(document.elementFromPoint(event.clientX, event.clientY))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener("click", held, { capture: true });
}
