// Saves what a page shows as files: tables of numbers, as the API writes them, and a chart as it is drawn.

import { ApiError, call } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { toast } from '../../ui/toast.js';
import { csvOf, joined, withSoFar } from './csv.js';
import { pictureOf } from './picture.js';

/** An answer has some thousands of rows, and says where the next ones are. More of them than these fill a browser. */
const MOST_PARTS = 50;
const TOO_MANY = 429;

/** @typedef {Record<string, unknown> | URLSearchParams} Query */
/** @typedef {{ body: string, next?: URLSearchParams }} Part */

/**
 * A table of a link's statistics.
 * @param {string} code
 * @param {string} table as the API calls it
 * @param {Record<string, unknown>} query what the page asks for, too
 */
export async function saveTable(code, table, query) {
  saveText(`${code}-${table}`, await readTable(code, table, query));
}

/** @param {string} code @param {string} table @param {Record<string, unknown>} query @returns {Promise<string>} */
const readTable = (code, table, query) => call('GET /api/stats/{code}', { path: { code }, query: { ...query, format: 'csv', table }, asText: true });

/**
 * A link's clicks over time, by hours or days.
 * @param {string} code
 * @param {Record<string, unknown>} query
 * @param {number} [running] when the one begins that isn't over, in seconds since 1970
 */
export async function saveSeries(code, query, running) {
  saveText(`${code}-series`, withSoFar(await readTable(code, 'series', query), running));
}

/** @param {string} name @param {string} text */
const saveText = (name, text) => save(new Blob([text], { type: 'text/csv' }), `${name}.csv`);

/**
 * The single clicks of a link, part by part.
 * @param {string} code
 * @param {Record<string, unknown>} query
 */
export const saveClicks = (code, query) =>
  saveParts(`${code}-clicks`, 'clicks', query, (part) => call('GET /api/stats/{code}/clicks', { path: { code }, query: part, asText: true, withNext: true }));

/** Who has done what in the workspace. @param {Record<string, unknown>} query */
export const saveActivity = (query) =>
  saveParts('activity', 'entries', query, (part) => call('GET /api/workspace/audit', { query: part, asText: true, withNext: true }));

/**
 * A table that the API gives part by part.
 * @param {string} name
 * @param {string} rows what they are called
 * @param {Query} query
 * @param {(query: Query) => Promise<Part>} read
 */
async function saveParts(name, rows, query, read) {
  /** @type {string[]} */
  const parts = [];
  /** @type {Query | undefined} */
  let next = { ...query, format: 'csv' };
  while (next && parts.length < MOST_PARTS) {
    /** @type {Query} */
    const asked = next;
    /** @type {Part} */
    const { body, next: further } = await patiently(rows, () => read(asked));
    parts.push(body);
    next = further;
  }
  save(new Blob([joined(parts)], { type: 'text/csv' }), `${name}.csv`);
  if (next) toast(`The file only has the latest ${rows}. Choose a shorter period for older ones.`);
}

/**
 * Waits where the API wants it.
 * @template T
 * @param {string} rows
 * @param {() => Promise<T>} read
 * @returns {Promise<T>}
 */
export async function patiently(rows, read) {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== TOO_MANY || !error.retryAfter) throw error;
      const seconds = error.retryAfter;
      toast(`There are many ${rows}. The download continues in ${counted(seconds, 'second')}.`);
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
export const saveRows = (name, head, rows) => saveText(name, csvOf(head, rows));

/**
 * Something as JSON that people can read, too.
 * @param {string} name
 * @param {object} content
 */
export const saveJson = (name, content) => save(new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }), `${name}.json`);

/**
 * A chart, drawn anew with its title, whatever it is shown as.
 * @param {string} name
 * @param {string} title
 * @param {import('../chart/chart.js').ChartProps} chart
 */
export async function savePicture(name, title, chart) {
  const blob = await pictureOf(title, chart);
  if (!blob) throw new ApiError('broken', 'Your browser can’t create images.');
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
