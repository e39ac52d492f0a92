// The server's word, over one socket: the whole state when it changes, a beat in between; silence means nothing holds.
const SILENCE_MS = 900, RETRY_MS = 500;

export function listen(changed, delay = 0) {
  let heard = 0, state = null, onAir = false;
  const later = (act) => (delay ? setTimeout(act, delay) : act());

  function open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const key = new URLSearchParams(location.search).get("key");
    const socket = new WebSocket(`${scheme}://${location.host}/api/live/air${key ? `?key=${encodeURIComponent(key)}` : ""}`);
    socket.onmessage = ({ data }) => {
      heard = performance.now();
      const told = JSON.parse(data);
      later(() => {
        if ("beat" in told) {
          if (told.on_air === onAir) return;
          onAir = told.on_air;
        } else state = told;
        if (state) changed(state, onAir, performance.now() - heard < SILENCE_MS + delay);
      });
    };
    socket.onclose = () => setTimeout(open, RETRY_MS);
  }

  setInterval(() => {
    if (performance.now() - heard > SILENCE_MS && state) { onAir = false; changed(state, false, false); }
  }, 100);
  open();
}
