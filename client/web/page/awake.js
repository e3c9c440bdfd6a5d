/**
 * Keeps the screen on while a call runs: a phone that locks itself takes the microphone from the page.
 *
 * Where a browser cannot do it, nothing happens. Refuses to know the call.
 */

let lock = null;
let isWanted = false;

/** @param {boolean} wanted */
export async function stayAwake(wanted) {
  isWanted = wanted;
  if (!wanted) return lock?.release();
  try {
    lock = await navigator.wakeLock.request("screen");
    if (!isWanted) await lock.release(); // the call is over already
  } catch {
    // not this browser, or not now
  }
}

document.addEventListener("visibilitychange", () => {
  if (isWanted && document.visibilityState === "visible") stayAwake(true); // it was let go when hidden
});
