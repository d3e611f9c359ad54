// Saves what a page shows as files: tables of numbers, as the API writes them, and a chart as it is drawn.

import { ApiError, call } from '../../core/api.js';
import { counted, number } from '../../core/format.js';
import { toast } from '../../ui/toast.js';
import { csvOf, joined, withSoFar } from './csv.js';
import { pictureOf } from './picture.js';
import { zipOf } from './zip.js';

export { zipOf } from './zip.js';

/** An answer has some thousands of rows, and says where the next ones are. More of them than these fill a browser. */
const MOST_PARTS = 50;
const TOO_MANY = 429;

/** @typedef {Record<string, unknown> | URLSearchParams} Query */
/** @typedef {{ body: string, next?: URLSearchParams }} Part */
/** @typedef {{ name: string, text: string }} TableFile */

/**
 * A table of a link's statistics.
 * @param {string} code
 * @param {string} table as the API calls it
 * @param {Record<string, unknown>} query what the page asks for, too
 * @returns {Promise<TableFile>}
 */
export const readTable = async (code, table, query) => ({
  name: `${code}-${table}.csv`,
  text: await patiently('tables', () => call('GET /api/stats/{code}', { path: { code }, query: { ...query, format: 'csv', table }, asText: true })),
});

/**
 * A link's clicks over time, by hours or days.
 * @param {string} code
 * @param {Record<string, unknown>} query
 * @param {number} [running] when the one begins that isn't over, in seconds since 1970
 */
export async function readSeries(code, query, running) {
  const { name, text } = await readTable(code, 'series', query);
  return { name, text: withSoFar(text, running) };
}

/** @param {TableFile} file */
export const saveTable = ({ name, text }) => save(new Blob([text], { type: 'text/csv' }), name);

/**
 * Tables as one file, which are read one after another, and what they are about.
 * @param {string} name
 * @param {[string, string][]} about names and values
 * @param {(() => TableFile | Promise<TableFile>)[]} tables
 */
export async function saveTables(name, about, tables) {
  const files = [tableOf('about', ['name', 'value'], about)];
  for (const read of tables) files.push(await read());
  save(zipOf(files.map((file) => ({ name: fileNameOf(file.name), content: file.text }))), `${name}.zip`);
}

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
  saveTable({ name: `${name}.csv`, text: joined(parts) });
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
export const tableOf = (name, head, rows) => ({ name: `${name}.csv`, text: csvOf(head, rows) });

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
  save(await madePicture(title, chart), `${name}.png`);
}

/**
 * The same picture for the clipboard, or saved where that takes none.
 * @param {string} name
 * @param {string} title
 * @param {import('../chart/chart.js').ChartProps} chart
 */
export async function copyPicture(name, title, chart) {
  const picture = madePicture(title, chart);
  try {
    // Some browsers only allow it at once, so the picture follows.
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })]);
    toast('Image copied.');
  } catch {
    save(await picture, `${name}.png`);
    toast('Your browser didn’t allow copying, so the image was downloaded.');
  }
}

/** @param {string} title @param {import('../chart/chart.js').ChartProps} chart */
async function madePicture(title, chart) {
  const blob = await pictureOf(title, chart);
  if (!blob) throw new ApiError('broken', 'Your browser can’t create images.');
  return blob;
}

/** What names of files can't have. */
const NOT_IN_NAMES = /[\\/:*?"<>|\p{C}]+/gu;

/** @param {string} name */
const fileNameOf = (name) => name.replace(NOT_IN_NAMES, '-');

const KILO = 1_000;
const MEGA = 1_000_000;

/** How large a file is. @param {{ size: number }} file */
export function sizeOf({ size }) {
  if (size < KILO) return counted(size, 'byte');
  return size < MEGA ? `${number(Math.round(size / KILO))} KB` : `${number(Math.round(size / (MEGA / 10)) / 10)} MB`;
}

/** @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href, download: fileNameOf(name) }).click();
  // It is read a moment later.
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
