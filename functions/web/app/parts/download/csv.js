import { SO_FAR } from '../chart/running.js';

/** What begins a formula, or apostrophes before it, at the beginning of a cell and where spreadsheets may begin another one. */
const FORMULA = /((?:^|[;\t\n\r])"*)('*[=+\-@＝＋－＠])/g;

/**
 * A table as the API writes them.
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 */
export const csvOf = (head, rows) => [head, ...rows].map((cells) => `${cells.map(cellOf).join()}\r\n`).join('');

/** One that spreadsheets take for text: visitors choose some of them. @param {string | number} value */
function cellOf(value) {
  const text = typeof value === 'string' ? value.replace(FORMULA, "$1'$2") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What the last column of a row says whose time isn't over. */
export const NOTE = 'note';

/**
 * The API's table of clicks over time with one column more, which says of a row that its time isn't over.
 * @param {string} text
 * @param {number} [running] when that begins, in seconds since 1970
 */
export function withSoFar(text, running) {
  const noteOf = (/** @type {string} */ line) => (Date.parse(line.slice(0, line.indexOf(','))) / 1000 === running ? SO_FAR : '');
  return text.replace(/^.+?(?=\r?$)/gm, (line, at) => `${line},${at === 0 ? NOTE : noteOf(line)}`);
}

/** Tables below each other, of which each has the same first line. @param {string[]} parts */
export function joined(parts) {
  const [first = '', ...others] = parts;
  const head = first.slice(0, first.indexOf('\n') + 1);
  const lines = others.map((part) => (head && part.startsWith(head) ? part.slice(head.length) : part));
  return lines.reduce((text, part) => text + (text.endsWith('\n') || !part ? '' : '\n') + part, first);
}
