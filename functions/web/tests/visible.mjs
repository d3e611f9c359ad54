// The texts of a module that people may see or hear: strings, and what templates have besides code and what only programs read.

/** Attributes whose values nobody sees. */
const UNSEEN = new Set(['class', 'id', 'type', 'role', 'key', 'for', 'name', 'd', 'icon', 'kind', 'look', 'tone', 'as', 'href', 'rel', 'target', 'autocomplete', 'inputmode', 'viewBox', 'component']);

const TAG = /<\/?(?:\{\}|[\w-]*)((?:\s+|\.\.\.\{\}|[\w:-]+(?:=(?:"[^"]*"|'[^']*'|[^\s>"']+))?)*)\/?>/g;
const ATTRIBUTE = /([\w:-]+)=(?:"([^"]*)"|'([^']*)')/g;

/** @param {string} source @returns {{ text: string, isMarkup: boolean }[]} with `{}` in place of code */
function literals(source) {
  const found = [];
  let at = 0;
  // The last sign of code: it tells a regular expression from a division.
  let last = '';
  const code = () => {
    for (let depth = 0; at < source.length; at += 1) {
      const sign = source[at];
      if (source.startsWith('//', at)) at = source.indexOf('\n', at);
      else if (source.startsWith('/*', at)) at = source.indexOf('*/', at) + 1;
      else if (sign === "'" || sign === '"') text(sign, false);
      else if (sign === '`') text(sign, source.slice(0, at).endsWith('html'));
      else if (sign === '/' && (!/[\w)\]`'"]/.test(last) || source.slice(0, at).endsWith('return '))) expression();
      else if (sign === '{') depth += 1;
      else if (sign === '}' && (depth -= 1) < 0) return;
      if (!/\s/.test(source[at])) last = source[at];
    }
  };
  const text = (/** @type {string} */ end, /** @type {boolean} */ isMarkup) => {
    let read = '';
    for (at += 1; source[at] !== end; at += 1) {
      if (source[at] === '\\') read += source[(at += 1)];
      else if (end === '`' && source.startsWith('${', at)) {
        at += 2;
        last = '';
        code();
        read += '{}';
      } else read += source[at];
    }
    found.push({ text: read, isMarkup });
  };
  const expression = () => {
    for (let isInClass = false, isEscaped = false; ; ) {
      const sign = source[(at += 1)];
      if (sign === '/' && !isInClass && !isEscaped) return;
      isInClass = !isEscaped && (sign === '[' || sign === ']') ? sign === '[' : isInClass;
      isEscaped = sign === '\\' && !isEscaped;
    }
  };
  code();
  return found;
}

/** @param {string} source of a module @returns {string[]} with `{}` in place of code */
export function visibleTexts(source) {
  const texts = literals(source).flatMap(({ text, isMarkup }) => {
    if (!isMarkup) return [text];
    const attributes = [...text.matchAll(TAG)].flatMap(([, all = '']) => [...all.matchAll(ATTRIBUTE)]);
    return [...text.split(TAG).filter((_, index) => index % 2 === 0), ...attributes.flatMap(([, name, one, other]) => (UNSEEN.has(name) ? [] : [one ?? other]))];
  });
  return texts.map((text) => text.trim().replace(/\s+/g, ' ')).filter((text) => /\p{L}/u.test(text));
}
