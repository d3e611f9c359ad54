// JSON as it is written. JavaScript's own numbers can't hold all that JSON can, so what is only shown and edited stays text.

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The members of an object, each with its name and its value as they are written. @param {string} json @returns {[string, string][]} */
function membersOf(json) {
  /** @type {[string, string][]} */
  const found = [];
  let depth = 0;
  let previous = '';
  let name = '';
  let from = -1;
  for (const match of json.matchAll(TOKENS)) {
    const [token] = match;
    if (from >= 0 && depth === 1 && (token === ',' || token === '}')) {
      found.push([name, json.slice(from, match.index).trim()]);
      from = -1;
    }
    if (from < 0 && depth === 1 && token === ':') [name, from] = [previous, match.index + 1];
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    previous = token;
  }
  return found;
}

/**
 * The text of a member of an object.
 * @param {string} json an object
 * @param {string} name
 * @returns {string | undefined}
 */
export const memberText = (json, name) => membersOf(json).find(([written]) => JSON.parse(written) === name)?.[1];

/**
 * The object with another value of a member, or without it; the others stay as they are written.
 * @param {string} json
 * @param {string} name
 * @param {string | undefined} text
 */
export function withMember(json, name, text) {
  const others = membersOf(json).filter(([written]) => JSON.parse(written) !== name);
  const all = text === undefined ? others : [...others, [JSON.stringify(name), text]];
  return `{${all.map(([written, value]) => `${written}:${value}`).join()}}`;
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
