/**
 * The button that copies what was measured. Refuses to know what that is.
 */

import { byId, setText } from "../page/elements.js";
import { asObject } from "./measures.js";

const TOLD_MS = 2_500;

/** @param {import("../call/call.js").Call} call */
export async function copyMeasures(call) {
  const { id, model, duet } = call.started;
  const { trained, lag_frames, context_frames, ...sampling } = duet ?? {};
  const about = {
    session: id,
    model,
    trained: trained ?? null,
    sampling,
    startedUnixMs: call.startedUnixMs,
    userAgent: navigator.userAgent,
  };
  const text = JSON.stringify(asObject(call.numbers, about, call.timeline, call.roundTrip), null, 2);
  const done = await navigator.clipboard.writeText(text).then(
    () => "Copied",
    () => "The browser does not let this page copy",
  );
  setText(byId("copy"), done);
  setTimeout(() => setText(byId("copy"), "Copy as JSON"), TOLD_MS);
}
