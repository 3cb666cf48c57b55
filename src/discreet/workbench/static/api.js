// Talking to the server of this page: files, commands, sessions. Every address is relative, so the token stays in it.

export class Refused extends Error {}

async function answer(response) {
  const type = response.headers.get("content-type") || "";
  const body = type.includes("json") ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Refused(body.error || `the server answered ${response.status}`);
  return body;
}

export const get = async (path) => answer(await fetch(`api/${path}`));
export const remove = async (path) => answer(await fetch(`api/${path}`, { method: "DELETE" }));
export const post = async (path, body) => answer(await fetch(`api/${path}`, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }));
export const put = async (path, body) => answer(await fetch(`api/${path}`, { method: "PUT", body: JSON.stringify(body), headers: { "content-type": "application/json" } }));
export const send = async (path, bytes) => answer(await fetch(`api/${path}`, { method: "POST", body: bytes, headers: { "content-type": "application/octet-stream" } }));
export const upload = (file) => send(`files?name=${encodeURIComponent(file.name)}`, file);

export const session = (() => {
  const kept = sessionStorage.getItem("session");
  if (kept) return kept;
  const fresh = new URLSearchParams(location.search).get("session") || "page";
  sessionStorage.setItem("session", fresh);
  return fresh;
})();

// A name for a file that this session writes: sessions beside each other never write over each other's.
export const own = (name) => (session === "page" ? name : `${session}-${name}`);

// Waits until an earlier command is over, so two never write one file; stops it if it takes long.
export async function settled(earlier, stop) {
  const patience = setTimeout(() => stop && stop.abort(), 250);
  await Promise.resolve(earlier).catch(() => {});
  clearTimeout(patience);
}

// Runs a command and returns its job when it is over; `watch` is told how far it is. A refusal is thrown.
export async function run(command, values, { watch = null, signal = null } = {}) {
  let job = await post(`run?wait=${watch ? 0.3 : 15}`, { command, values, session });
  return follow(job, { watch, signal });
}

// Options of the command line mean nothing here: fields have names of their own.
export const plainly = (text) => text.replace(/ \(--[^()]*\)/g, "");

function told(job) {
  const found = job.result;
  if (found && typeof found.sentence === "string") found.sentence = plainly(found.sentence);
  if (found && Array.isArray(found.reasons)) found.reasons = found.reasons.map(plainly);
  return job;
}

export async function follow(job, { watch = null, signal = null } = {}) {
  const stop = () => remove(`jobs/${job.job}`).catch(() => {});
  if (signal && signal.aborted) await stop();
  if (signal) signal.addEventListener("abort", stop);
  while (job.state === "waiting" || job.state === "running") {
    if (watch) watch(job);
    job = await get(`jobs/${job.job}?wait=${watch ? 0.4 : 15}`);
  }
  if (signal) signal.removeEventListener("abort", stop);
  if (watch) watch(job);
  if (job.state === "cancelled") throw new Refused("cancelled");
  if (job.state !== "done") throw Object.assign(new Refused(job.error), { command: job.command });
  return told(job);
}
