// Where the server is, and how a key is shown to it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { canBeKey, headers, keptUrl, observerUrl, sessionUrl, subprotocols } from "../../client/web/wire/address.js";

test("the session's address lies beside the page, secure where the page is, without a key", () => {
  const expected = "ws://localhost:8998/v1/live/sessions?audio=binary";
  assert.equal(sessionUrl("http://localhost:8998/"), expected);
  assert.equal(
    sessionUrl("https://example.org/duet/index.html?x=1#y"),
    "wss://example.org/duet/v1/live/sessions?audio=binary",
  );
});

test("what belongs to a session lies below its id", () => {
  const page = "https://example.org/duet/";
  assert.equal(observerUrl(page, "s1"), "wss://example.org/duet/v1/live/sessions/s1/attach?audio=none");
  assert.match(observerUrl(page, "s1", 4_000), /attach\?audio=none&from_ms=4000$/);
  assert.equal(keptUrl(page, "s1", "content"), "https://example.org/duet/v1/live/sessions/s1/content");
});

test("a key is offered as unpadded base64url beside the real subprotocol", () => {
  assert.deepEqual(subprotocols("k?y>~"), ["duet", "duet.key.az95Pn4"]);
  assert.deepEqual(subprotocols(null), []);
  assert.deepEqual(headers("k"), { Authorization: "Bearer k" });
  assert.deepEqual(headers(null), {});
});

test("a key is printable ASCII without blanks", () => {
  assert.deepEqual(["sk-1~", "", "a b", "schlüssel"].map(canBeKey), [true, false, false, false]);
});
