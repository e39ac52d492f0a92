// --- a film of a move, made by the browser: whoever has the page alone can share it ---
const CLIP = { wide: 960, pictures: 25, lead: .7, hold: 3, longest: 10, strip: 84, queue: 12, patience: 15 };
const clipKind = window.MediaRecorder && HTMLCanvasElement.prototype.captureStream && ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/mp4"].find(kind => MediaRecorder.isTypeSupported(kind));

function lastMove(time) { return film.moves.reduce((last, m, k) => m.start_s <= time + .06 && (last < 0 || m.start_s >= film.moves[last].start_s) ? k : last, -1); }

// The clip of the move that runs, or ran last.
function offerClip(time) {
  const number = lastMove(time), name = film.clips[number], link = at("clip-file"), text = number < 0 ? "" : label(film.moves[number].piece) + " at " + clock(film.moves[number].start_s);
  at("clip").hidden = number < 0 || !(name || clipKind);
  link.hidden = !name;
  at("clip-make").hidden = !clipKind || Boolean(name && hasReel()); // where the film lies beside the page, so do its clips
  if (name && link.textContent !== "Clip of " + text) { link.textContent = "Clip of " + text; link.href = name; }
  if (!at("clip-make").disabled) at("clip-make").textContent = "Make a film of " + text;
}

// What the film says below the table: how far the piece went, then the closest of another side.
function clipWords(move, time) {
  if (time < move.end_s) return [label(move.piece), ""];
  const way = move.way_seen ? inUnit(move.path_mm) + " " + spread(move.path_sigma_mm) : "at least " + inUnit(move.path_mm);
  const k = film.rests.findIndex(rest => rest.time_s >= move.end_s), other = k < 0 ? undefined : closest(k, [move.piece]), d = other && gap(film.rests[k], move.piece, other);
  return [label(move.piece) + ": " + way, d ? "then " + inUnit(d.mm) + " " + spread(d.sigma) + " from " + label(other) : ""];
}

function outline(pen, base, grown = 0) {
  const w = (base.diameter_mm || base.width_mm) / 2 + grown, l = (base.diameter_mm || base.length_mm) / 2 + grown;
  pen.beginPath();
  if (base.shape === "rectangle") pen.roundRect(-l, -w, 2 * l, 2 * w, base.corner_radius_mm || 0); else pen.ellipse(0, 0, l, w, 0, 0, 2 * Math.PI);
}

function drawMoment(pen, move, photo, time) {
  const { width, height } = pen.canvas, scale = width / W;
  pen.setTransform(1, 0, 0, 1, 0, 0); pen.fillStyle = "#14171b"; pen.fillRect(0, 0, width, height);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  if (photo) pen.drawImage(photo, 0, 0, W, H); else { pen.fillStyle = "#ece8dd"; pen.fillRect(0, 0, W, H); }
  const piece = named.get(move.piece), now = place(piece, time);
  const way = [[move.from_x_mm, move.from_y_mm], ...move.trail.filter(p => p[0] > move.start_s && p[0] < Math.min(time, move.end_s)).map(p => p.slice(1)), now ? [now.x, now.y] : [move.to_x_mm, move.to_y_mm]];
  pen.lineJoin = pen.lineCap = "round";
  for (const [ink, wide] of [["#ffffff", 1.1], ["#1b7fdc", .6]]) {
    pen.strokeStyle = ink; pen.lineWidth = wide * unit; pen.beginPath();
    if (time > move.start_s) for (const [x, y] of time < move.end_s ? way : move.way) pen.lineTo(x, H - y);
    pen.stroke();
  }
  for (const { piece: one, group } of drawn) {
    const p = place(one, time);
    if (!p) continue;
    pen.save(); pen.translate(p.x, H - p.y);
    outline(pen, one.base, one === piece ? 1.96 * p.sigma : 0);
    pen.strokeStyle = "#ffffff"; pen.lineWidth = unit * .6; pen.stroke();
    pen.strokeStyle = one === piece ? "#1b7fdc" : getComputedStyle(group.querySelector(".base")).stroke; pen.lineWidth = unit * .3; pen.stroke();
    pen.restore();
  }
  const [head, line] = clipWords(move, time);
  pen.setTransform(1, 0, 0, 1, 0, 0); pen.textBaseline = "middle"; pen.fillStyle = "#ffffff";
  pen.font = "600 30px Inter, system-ui, sans-serif"; pen.fillText(head, 24, height - CLIP.strip + 28, width - 48);
  pen.font = "600 22px Inter, system-ui, sans-serif"; pen.fillStyle = "#d5dce4"; pen.fillText(line, 24, height - CLIP.strip + 62, width - 48);
}

async function photoAt(time) {
  const rest = film.rests[Math.max(0, film.rests.findLastIndex(one => one.time_s <= time + .06))];
  if (!rest || rest.still.length < 10) return null;
  const photo = new Image(); photo.src = rest.still;
  await photo.decode().catch(() => {});
  return photo.naturalWidth ? photo : null;
}

// Draw the move at its own pace while the browser records; the file's bytes.
async function recordMove(move, say) {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  canvas.width = CLIP.wide; canvas.height = 2 * Math.round((CLIP.wide * H / W + CLIP.strip) / 2);
  const from = Math.max(0, move.start_s - CLIP.lead, move.end_s - CLIP.longest), to = move.end_s + CLIP.hold;
  const [before, after] = await Promise.all([photoAt(move.start_s), photoAt(to)]);
  const paint = time => drawMoment(pen, move, time < move.end_s + .4 ? before : after, time);
  paint(from);
  const recorder = new MediaRecorder(canvas.captureStream(CLIP.pictures), { mimeType: clipKind, videoBitsPerSecond: 4e6 }), parts = [];
  recorder.ondataavailable = event => { if (event.data.size) parts.push(event.data); };
  const done = new Promise(resolve => { recorder.onstop = resolve; });
  const pause = () => new Promise(resolve => setTimeout(resolve, 1000 / CLIP.pictures));
  const show = time => { say("Recording: " + Math.ceil(to - time) + " s more"); paint(time); };
  // A busy encoder wakes late and has up to ten pictures waiting, lost when it stops: the first and last stand until they are through.
  const stand = async (time, count) => {
    const until = parts.length + count, late = performance.now() + 1000 * CLIP.patience;
    while (parts.length < until && performance.now() < late && recorder.state === "recording") { show(time); await pause(); }
  };
  recorder.start(1000 / CLIP.pictures);
  await stand(from, 1);
  for (let begin = performance.now(), time = from; time < to;) {
    await pause();
    time = Math.min(to, from + (performance.now() - begin) / 1000);
    show(time);
  }
  await stand(to, CLIP.queue);
  recorder.stop();
  await done;
  return new Blob(parts, { type: clipKind.split(";")[0] });
}

let made = null;
at("clip-make").addEventListener("click", async () => {
  const button = at("clip-make"), move = film.moves[lastMove(moment)];
  button.disabled = true; at("clip-share").hidden = true;
  const bytes = await recordMove(move, text => { button.textContent = text; }).catch(() => null);
  button.disabled = false; offerClip(moment);
  at("clip-said").textContent = bytes?.size ? "" : "This browser could not record the film.";
  if (!bytes?.size) return;
  const ending = bytes.type.split("/")[1], name = (film.name + "-" + label(move.piece)).replace(/[^\p{L}\p{N}]+/gu, "-") + "." + ending;
  made = new File([bytes], name, { type: bytes.type });
  const link = document.createElement("a"); link.href = URL.createObjectURL(made); link.download = name; link.click();
  at("clip-share").hidden = !navigator.canShare?.({ files: [made] });
});
at("clip-share").addEventListener("click", () => navigator.share({ files: [made] }).catch(() => {}));

