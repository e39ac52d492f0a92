// What the page asks of the server. Every refusal is an Error whose message is for people; `after` is the measurement
// with a photo that somebody else has added.

const HERE = "/api/measurements";

export const about = () => get("/api/about");
export const newest = () => get(HERE);
export const table = (id, photo) => get(`${HERE}/${id}/table?${new URLSearchParams({ photo })}`);
export const one = (id) => get(`${HERE}/${id}`);
// The measurement with all photos of a table, whichever of its measurements is named.
export const newestOf = async (id) => {
  const found = await one(id);
  return found.after ? newestOf(found.after) : found;
};
export const rule = (id, question, photo) => post(`${HERE}/${id}/ask?${new URLSearchParams({ photo })}`, question);
export const advice = (id, question) => get(`${HERE}/${id}/advice${asked(question)}`);
export const takeOut = async (id) => (await fetched(`${HERE}/${id}/photos`, { method: "DELETE" })).json();
// In place of the corrections of that version only: what somebody else has corrected meanwhile is never lost.
export const correct = (id, fix, version) =>
  told("PUT", `${HERE}/${id}/fixes`, { schema: "overruler/fix/1", fix }, { "if-match": `"${version}"` });
export const bands = (id, piece, reach, photo) =>
  get(`${HERE}/${id}/bands?${new URLSearchParams({ piece, photo, ...(reach ? { lines_mm: String(reach * 25.4) } : {}) })}`);
export const arcs = (id, piece, photo) => get(`${HERE}/${id}/arcs?${new URLSearchParams({ piece, photo })}`);
export const again = (id, wish) => post(`${HERE}/${id}/again?${new URLSearchParams(wish)}`);
export const forget = (id) => fetched(`${HERE}/${id}`, { method: "DELETE" });
export const link = (id) => get(`${HERE}/${id}/link`);
export const photo = (id, size = "", number = 1) => {
  const wanted = new URLSearchParams({ ...(size ? { size } : {}), ...(number > 1 ? { number } : {}) }).toString();
  return `${HERE}/${id}/photo${wanted && `?${wanted}`}`;
};
export const picture = (id, question) => `${HERE}/${id}/picture${asked(question)}`;
export const bundle = (id, question) => `${HERE}/${id}/bundle${asked(question)}`;
export const scene = (id) => `${HERE}/${id}/scene`;

const asked = (question) => (question ? `?${new URLSearchParams({ question: JSON.stringify(question) })}` : "");
const get = async (path) => (await fetched(path)).json();
const post = (path, body) => told("POST", path, body);
const told = async (method, path, body = {}, more = {}) =>
  (await fetched(path, { method, body: JSON.stringify(body), headers: { "content-type": "application/json", ...more } })).json();

async function fetched(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("the computer does not answer: is it still on, and on this network?");
  }
  if (!answer.ok) throw await refusal(answer.status, answer.text());
  return answer;
}

async function refusal(status, text) {
  try {
    const { error, after } = JSON.parse(await text);
    return Object.assign(new Error(error), { status, after });
  } catch {
    return Object.assign(new Error("the computer gave no answer that makes sense"), { status });
  }
}

// fetch() cannot say how much has been sent; this can.
export const send = (file, wish, progress) => sent(`${HERE}?${new URLSearchParams(wish)}`, file, progress);
export const addPhoto = (id, file, progress) => sent(`${HERE}/${id}/photos`, file, progress);

// Whether a photo is on its way, which only this page has.
export const sending = () => underway > 0;
let underway = 0;

function sent(address, file, progress) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    underway += 1;
    request.onloadend = () => (underway -= 1);
    request.open("POST", address);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => failed(new Error("the photo did not get through: try again"));
    request.onload = async () =>
      request.status === 202 ? done(JSON.parse(request.responseText)) : failed(await refusal(request.status, request.responseText));
    request.send(file);
  });
}

// The state of a measurement, each as it comes, until it has ended.
export function watch(id, told) {
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${HERE}/${id}/watch`;
  return new Promise((done, failed) => {
    const socket = new WebSocket(address);
    let last;
    socket.onmessage = (event) => told((last = JSON.parse(event.data)));
    socket.onclose = async () => {
      try {
        while (!ended(last)) {
          last = await one(id).catch(awaited);
          told(last);
          if (!ended(last)) await new Promise((wait) => setTimeout(wait, 1000));
        }
        done(last);
      } catch (error) {
        failed(error);
      }
    };
  });
}

// A phone sleeps, a network fails, a computer starts again: the photo is there, and so it is asked for until somebody answers.
function awaited(error) {
  if (error.status) throw error;
  return { step: `${error.message} Trying again` };
}

const ended = (news) => news && (news.state === "done" || news.state === "failed");
