// The links that somebody has written or pasted: one a line, and behind a tab a code of its own.

import { guessUrl } from '../../core/address.js';
import { number } from '../../core/format.js';
import { MOST_LINKS } from '../bulk/bulk.js';
import { codeError } from '../link-form/code-field.js';

/** @typedef {{ number: number, text: string, url: string, code: string }} Line `text` is what was written */
/** @typedef {{ number: number, text: string, why: string }} WrongLine */

/** @param {string} text @returns {{ lines: Line[], wrong: WrongLine[] }} */
export function linesOf(text) {
  const lines = text.split(/\r\n|\r|\n/).flatMap((row, index) => (row.trim() ? [lineOf(row, index + 1)] : []));
  /** @type {Map<string, number>} */
  const codes = new Map();
  const wrong = lines.flatMap((line, index) => {
    const why = index >= MOST_LINKS ? `You can create ${number(MOST_LINKS)} links at once. These are ${number(lines.length)}.` : (mistakeOf(line) ?? takenWithin(line, codes));
    return why ? [{ number: line.number, text: line.text, why }] : [];
  });
  return { lines, wrong };
}

/** Where a tab can't be typed, two spaces do. @param {string} row @param {number} number @returns {Line & { more: string }} */
function lineOf(row, number) {
  const [typed = '', code = '', ...more] = row.split(/\t|\s{2,}/).map((cell) => cell.trim()).filter(Boolean);
  return { number, text: row.trim(), url: guessUrl(typed) ?? typed, code, more: more.join(' ') };
}

/** @param {Line & { more: string }} line */
function mistakeOf({ url, code, more }) {
  if (/\s/.test(url)) return 'A URL can’t contain spaces. To set a custom code, add it after a tab or two spaces.';
  if (!guessUrl(url)) return 'Enter a URL that starts with http:// or https://.';
  if (more) return 'Enter only a URL and a code.';
  const why = codeError(code);
  return why && `The code can’t be ${code}. ${why}`;
}

/** A code is the same in any case. @param {Line} line @param {Map<string, number>} codes the lines that have one */
function takenWithin({ number: at, code }, codes) {
  const key = code.toLowerCase();
  const first = codes.get(key);
  if (first !== undefined) return `Line ${number(first)} also has the code ${code}.`;
  if (code) codes.set(key, at);
  return undefined;
}

/** Where a line stands in the text, to select it. @param {string} text @param {number} number */
export function placeOf(text, number) {
  const before = text.split('\n').slice(0, number - 1).join('\n').length;
  const from = number === 1 ? 0 : before + 1;
  const end = text.indexOf('\n', from);
  return { from, to: end < 0 ? text.length : end };
}
