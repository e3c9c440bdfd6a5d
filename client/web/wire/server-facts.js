/**
 * What the server says about itself over plain HTTP: the loaded model, its places, why it refuses.
 *
 * A browser cannot read the answer that refuses a WebSocket, so it is asked for here.
 * Refuses to know the page and the wire.
 */

import { headers } from "./address.js";
import { readSteps } from "./step-time.js";

/**
 * The loaded model and its places; cheap, and never an error for the browser's console.
 *
 * @param {typeof fetch} fetch
 * @param {string} page the page's own address
 * @param {string | null} key
 * @returns {Promise<{facts: object | null, refusal: object | null}>} facts: {name, trained, capacity,
 *   active, sampling, instructions, voices}, null where they could not be had. refusal: {type, message, ...} where no call could start now.
 */
export async function askModel(fetch, page, key) {
  const models = await get(fetch, new URL("v1/models", page), headers(key));
  const facts = factsOf(models);
  return { facts, refusal: refusalOf(models, key) ?? fullness(facts) };
}

/** The same, and whether the server itself is ready; being full is told by its places alone. */
export async function askServer(fetch, page, key) {
  const { facts, refusal } = await askModel(fetch, page, key);
  if (refusal) return { facts, refusal };
  return { facts, refusal: refusalOf(await get(fetch, new URL("ready", page), {}), key) };
}

/** @returns {Promise<{sum: number, count: number} | null>} the steps that the server has counted */
export async function askSteps(fetch, page) {
  try {
    const response = await fetch(new URL("metrics", page), { cache: "no-store" });
    return response.ok ? readSteps(await response.text()) : null;
  } catch {
    return null;
  }
}

async function get(fetch, url, headers) {
  try {
    const response = await fetch(url, { headers, cache: "no-store" });
    return { status: response.status, body: await response.json() };
  } catch {
    return { status: 0, body: null }; // nobody answers, or not in JSON
  }
}

function factsOf({ status, body }) {
  const model = status === 200 ? body?.data?.[0] : undefined;
  if (!model?.duet) return null;
  const { trained, capacity, active, sampling, instructions, voices } = model.duet;
  return { name: model.id, trained, capacity, active, sampling, instructions, voices };
}

function refusalOf({ status, body }, key) {
  if (status === 200) return null;
  if (status === 401) return { type: key === null ? "missing_api_key" : "wrong_api_key" };
  return body?.error ?? { type: "unreachable" };
}

function fullness(facts) {
  if (!facts || facts.active < facts.capacity) return null;
  return { type: "server_full", capacity: facts.capacity };
}
