// JSON as it is written. JavaScript's own numbers can't hold all that JSON can, so what is only shown and edited stays text.

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * The text of a member of an object.
 * @param {string} json an object
 * @param {string} name
 * @returns {string | undefined}
 */
export function memberText(json, name) {
  let depth = 0;
  let previous = '';
  let found = -1;
  for (const match of json.matchAll(TOKENS)) {
    const [token] = match;
    if (found >= 0 && depth === 1 && (token === ',' || token === '}')) return json.slice(found, match.index).trim();
    if (found < 0 && depth === 1 && token === ':' && JSON.parse(previous) === name) found = match.index + 1;
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    previous = token;
  }
  return undefined;
}

/** The same value without spaces. @param {string} json */
export const compact = (json) => json.match(TOKENS)?.join('') ?? '';

/** The same value with a line for each member, as `JSON.stringify` writes it with two spaces. @param {string} json */
export function indented(json) {
  const tokens = json.match(TOKENS) ?? [];
  let depth = 0;
  let text = '';
  tokens.forEach((token, index) => {
    const isEmpty = /^[{[]$/.test(tokens[index - 1] ?? '');
    if (token === '}' || token === ']') depth -= 1;
    const isOnNewLine = token === '}' || token === ']' ? !isEmpty : isEmpty || tokens[index - 1] === ',';
    if (isOnNewLine) text += `\n${'  '.repeat(depth)}`;
    text += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth += 1;
  });
  return text;
}
