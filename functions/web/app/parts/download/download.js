// Saves what a page shows as files: tables of numbers, as the API writes them, and a chart as it is drawn.

import { ApiError, call } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { toast } from '../../ui/toast.js';
import { csvOf, joined } from './csv.js';
import { pictureOf } from './picture.js';

/** An answer has some thousands of the clicks, and says where the next ones are. More of them than these fill a browser. */
const MOST_PARTS = 50;
const TOO_MANY = 429;

/**
 * A table of a link's statistics.
 * @param {string} code
 * @param {string} table as the API calls it
 * @param {Record<string, unknown>} query what the page asks for, too
 */
export async function saveTable(code, table, query) {
  const text = await call('GET /api/stats/{code}', { path: { code }, query: { ...query, format: 'csv', table }, asText: true });
  save(new Blob([text], { type: 'text/csv' }), `${code}-${table}.csv`);
}

/**
 * The single clicks of a link, part by part.
 * @param {string} code
 * @param {Record<string, unknown>} query
 */
export async function saveClicks(code, query) {
  /** @type {string[]} */
  const parts = [];
  /** @type {Record<string, unknown> | URLSearchParams | undefined} */
  let next = { ...query, format: 'csv' };
  while (next && parts.length < MOST_PARTS) {
    const { body, next: further } = await patiently(() => call('GET /api/stats/{code}/clicks', { path: { code }, query: next, asText: true, withNext: true }));
    parts.push(body);
    next = further;
  }
  save(new Blob([joined(parts)], { type: 'text/csv' }), `${code}-clicks.csv`);
  if (next) toast('The file has the latest clicks only, since there are so many. Choose a shorter time for older ones.');
}

/**
 * Waits where the API wants it.
 * @template T
 * @param {() => Promise<T>} read
 * @returns {Promise<T>}
 */
async function patiently(read) {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== TOO_MANY || !error.retryAfter) throw error;
      const seconds = error.retryAfter;
      toast(`There are many clicks. This goes on in ${counted(seconds, 'second')}.`);
      await new Promise((done) => setTimeout(done, seconds * 1000));
    }
  }
}

/**
 * A table of what is shown.
 * @param {string} name
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 */
export const saveRows = (name, head, rows) => save(new Blob([csvOf(head, rows)], { type: 'text/csv' }), `${name}.csv`);

/**
 * A chart, drawn anew with its title, whatever it is shown as.
 * @param {string} name
 * @param {string} title
 * @param {import('../chart/chart.js').ChartProps} chart
 */
export async function savePicture(name, title, chart) {
  const blob = await pictureOf(title, chart);
  if (!blob) throw new ApiError('broken', 'Your browser can’t make pictures.');
  save(blob, `${name}.png`);
}

/** What names of files can't have. */
const NOT_IN_NAMES = /[\\/:*?"<>|\p{C}]+/gu;

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href, download: name.replace(NOT_IN_NAMES, '-') }).click();
  // It is read a moment later.
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
