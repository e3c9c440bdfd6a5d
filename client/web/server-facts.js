/**
 * What the server says about itself over plain HTTP: the loaded model, its places, why it refuses.
 *
 * A browser cannot read the answer that refuses a WebSocket, so it is asked for here.
 * Refuses to know the page and the wire.
 */

import { headers } from "./address.js";

/**
 * @param {typeof fetch} fetch
 * @param {string} page the page's own address
 * @param {string | null} key
 * @returns {Promise<{facts: object | null, refusal: object | null}>} facts: {name, trained, capacity,
 *   active}, null where they could not be had. refusal: {type, message, ...} where no call could start now.
 */
export async function askServer(fetch, page, key) {
  const ask = (path) => get(fetch, new URL(path, page), headers(key));
  const [models, ready] = await Promise.all([ask("v1/models"), ask("ready")]);
  return { facts: factsOf(models), refusal: refusalOf(models, key) ?? refusalOf(ready, key) };
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
  const { trained, capacity, active } = model.duet;
  return { name: model.id, trained, capacity, active };
}

function refusalOf({ status, body }, key) {
  if (status === 200) return null;
  if (status === 401) return { type: key === null ? "missing_api_key" : "wrong_api_key" };
  return body?.error ?? { type: "unreachable" };
}
