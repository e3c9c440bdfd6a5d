/**
 * Modules of this page made into one plain script, for a file that has to stand alone.
 *
 * Each module becomes a function that returns its exports; the page's code is uniform enough (named imports
 * at the beginning, exports in front of a declaration) for that to take a few lines. Refuses to know what
 * the modules do.
 */

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*"([^"]+)";$/gm;
const EXPORT = /^export (?:async )?(?:class|function|const) ([\w$]+)/gm;

/**
 * @param {string} entry the first module's address
 * @param {(address: string) => Promise<string>} load gives a module's text
 * @returns {Promise<string>} a script that runs it, after all that it imports
 */
export async function bundle(entry, load) {
  const modules = new Map();
  await gather(entry, load, modules);
  const names = new Map([...modules.keys()].map((address, index) => [address, `module${index}`]));
  const parts = [...modules].map(([address, text]) => enclosed(address, text, names));
  return `"use strict";\n${parts.join("\n")}`;
}

/** Every module after those that it needs. */
async function gather(address, load, modules, open = new Set()) {
  if (modules.has(address) || open.has(address)) return;
  open.add(address);
  const text = await load(address);
  for (const [, , path] of text.matchAll(IMPORT)) {
    await gather(new URL(path, address).href, load, modules, open);
  }
  modules.set(address, text);
}

function enclosed(address, text, names) {
  const body = text
    .replace(IMPORT, (_, wanted, path) => {
      const from = names.get(new URL(path, address).href);
      return `const {${wanted.replaceAll(" as ", ": ")}} = ${from};`;
    })
    .replace(/^export (?=async |class |function |const )/gm, "");
  const exported = [...text.matchAll(EXPORT)].map(([, name]) => name);
  return `const ${names.get(address)} = (() => {\n${body}\nreturn { ${exported.join(", ")} };\n})();`;
}
