/**
 * A conversation as one HTML file that plays without a server and asks nobody for anything.
 *
 * Its own policy lets nothing run but the one script and the one style it was written with, by their
 * hashes. Pure but for the hash. Refuses to know the conversation.
 */

const BODY = `<main>
<header class="replay-head"><h1></h1><p id="about"></p></header>
<section class="card" aria-label="Conversation"><div class="player"><button type="button" id="play">Play</button>
<output id="at">0:00</output></div><div id="lanes"></div></section>
<section class="card words" aria-label="Words"><div id="words" class="log" tabindex="0"></div></section>
</main>`;

/**
 * @param {{title: string, style: string, script: string, data: object, sound: {type: string, base64: string}
 *   | null}} parts
 * @param {(text: string) => Promise<string>} sha256 in base64
 * @returns {Promise<string[]>} the file's pieces, in order: the sound may be large
 */
export async function replayFile({ title, style, script, data, sound }, sha256) {
  const code = script.replaceAll("</script", "<\\/script");
  const policy =
    `default-src 'none'; script-src 'sha256-${await sha256(code)}'; ` +
    `style-src 'sha256-${await sha256(style)}'; media-src blob:; base-uri 'none'; form-action 'none'`;
  return [
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n`,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">\n`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n`,
    `<meta name="color-scheme" content="light dark">\n<title>${escaped(title)}</title>\n`,
    `<style>${style}</style>\n</head>\n<body class="replay">\n${BODY}\n`,
    `<script type="application/json" id="data">${asJson(data)}</script>\n`,
    ...(sound ? [`<script type="text/plain" id="sound" data-type="${escaped(sound.type)}">`, sound.base64] : []),
    ...(sound ? ["</script>\n"] : []),
    `<script>${code}</script>\n</body>\n</html>\n`,
  ];
}

/** JSON that no HTML parser can take for anything else. */
function asJson(data) {
  return JSON.stringify(data).replaceAll("<", "\\u003c");
}

function escaped(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character]);
}
