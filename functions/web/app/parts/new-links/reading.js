// What somebody pastes or drops, as cells: lines, a part of a spreadsheet, or CSV.

import { guessUrl } from '../../core/address.js';

/** What keeps spreadsheets from taking a cell for a formula, as files of this application have it. */
const PLAIN = /((?:^|[;\t\n\r])"*)'([=+\-@＝＋－＠])/g;
const DELIMITERS = ['\t', ';', ','];
/** Where a tab can't be typed, two spaces do. */
const GAP = /\t|\s{2,}/;
/** A line that may be a URL and a code, or a URL that has a comma. */
const UNCLEAR = /^(\S+\.\S+?)[,;]\s*([0-9A-Za-z][0-9A-Za-z_-]{2,18}[0-9A-Za-z])$/;

/**
 * The cells of a table in which quotes enclose what has delimiters, quotes or line breaks (RFC 4180).
 * @param {string} text
 * @param {string} delimiter
 * @returns {string[][]} without empty rows
 */
export function cellsOf(text, delimiter) {
  /** @type {string[][]} */
  const rows = [[]];
  const cell = new RegExp(`(?:[^\\S\\r\\n\\t]*"((?:[^"]|"")*)"[^\\S\\r\\n\\t]*(?=[${delimiter}\\r\\n]|$)|([^${delimiter}\\r\\n]*))(${delimiter}|\\r\\n|\\r|\\n|$)`, 'gy');
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    const [, quoted, bare = '', end] = match;
    rows[rows.length - 1].push((quoted === undefined ? bare : quoted.replaceAll('""', '"')).trim().replace(PLAIN, '$1$2'));
    if (end === '') break;
    if (end !== delimiter) rows.push([]);
  }
  return rows.filter((row) => row.some(Boolean));
}

/**
 * The cells of a text, as it is most likely meant.
 * @param {string} text
 * @param {(row: string[]) => boolean} isHead whether a row names columns
 * @returns {{ cells: string[][], isTable: boolean }} a table has columns beyond the URL and its code, or names them
 */
export function readText(text, isHead) {
  const plain = text.replace(/^\uFEFF/, '');
  for (const delimiter of DELIMITERS) {
    if (!plain.includes(delimiter)) continue;
    const cells = cellsOf(plain, delimiter);
    if (isTable(cells, delimiter, isHead)) return { cells, isTable: true };
  }
  const cells = plain.split(/\r\n|\r|\n/).flatMap((row) => (row.trim() ? [row.split(GAP).map((cell) => cell.trim()).filter(Boolean)] : []));
  return { cells, isTable: cells.length > 0 && isHead(cells[0]) };
}

/** @param {string[][]} cells @param {string} delimiter @param {(row: string[]) => boolean} isHead */
function isTable(cells, delimiter, isHead) {
  const [top = [], ...others] = cells;
  const width = cells.reduce((most, row) => Math.max(most, row.findLastIndex(Boolean) + 1), 0);
  if (width < 2) return false;
  if (isHead(top)) return true;
  const below = others.length > 0 ? others : cells;
  if (!areMost(below, (row) => row.some(isUrl))) return false;
  const isNamed = !top.some(isUrl);
  // Two columns are lines with codes, unless a URL or a text stands where the code would.
  if (delimiter === '\t') return width > 2 || !areMost(below, ([first]) => isUrl(first)) || cells.some((row) => / /.test(row[1] ?? ''));
  // URLs have commas and semicolons, too, but no spaces: a table has as many cells in each row, and some that no URL has.
  return cells.every(({ length }) => length === top.length) && (isNamed || cells.some((row) => row.some((cell) => cell === '' || / /.test(cell))));
}

/** @param {string} cell */
const isUrl = (cell) => guessUrl(cell) !== undefined;

/** @template T @param {T[]} list @param {(one: T) => boolean} holds */
const areMost = (list, holds) => list.filter(holds).length * 2 > list.length;

/** The lines of which it isn’t clear whether they have a code. @param {string} text @returns {{ url: string, code: string }[]} */
export const unclearLines = (text) =>
  text.split(/[\r\n]+/).flatMap((line) => {
    const [, url, code] = UNCLEAR.exec(line.trim()) ?? [];
    return url && guessUrl(url) ? [{ url, code }] : [];
  });

/** The text in which these lines have a code behind a tab. @param {string} text */
export const withCodes = (text) => text.replace(/[^\r\n]+/g, (line) => line.trim().replace(UNCLEAR, '$1\t$2'));

/** A file as text: what isn’t Unicode is of a spreadsheet that writes the code page of Western Europe. @param {ArrayBuffer} bytes */
export function textOf(bytes) {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
