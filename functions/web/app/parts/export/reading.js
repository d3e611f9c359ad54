import { ApiError } from '../../core/api.js';
import { joined } from '../download/csv.js';

/** @typedef {'csv' | 'json'} Format */
/** @typedef {Record<string, unknown> | URLSearchParams} Query */

/**
 * @typedef {object} Wanted
 * @property {string} name what people call it
 * @property {string} list what the API calls the list in its pages
 * @property {Format} format
 * @property {(query: Query) => Promise<{ body: string, next?: URLSearchParams }>} read
 */

/** What was read so far. @typedef {{ parts: string[], size: number, head: string, next: Query | undefined }} Reading */

const TOO_MANY = 429;

/** @param {Wanted} wanted @returns {Reading} */
export const begin = ({ format }) => ({ parts: [], size: 0, head: '', next: { format } });

/**
 * Reads on until there is nothing more. What it has read stays, should it fail.
 * @param {Wanted} wanted
 * @param {Reading} reading
 * @param {{ signal: AbortSignal, tell: (seconds?: number) => void }} options `tell` hears of each page, and for how long it waits
 */
export async function readOn(wanted, reading, { signal, tell }) {
  while (reading.next) {
    try {
      const { body, next } = await wanted.read(reading.next);
      signal.throwIfAborted();
      take(wanted, reading, body);
      reading.next = next;
      tell();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== TOO_MANY || !error.retryAfter) throw error;
      tell(error.retryAfter);
      await new Promise((done) => setTimeout(done, Number(error.retryAfter) * 1_000));
      signal.throwIfAborted();
    }
  }
}

/** @param {Wanted} wanted @param {Reading} reading @param {string} body */
function take({ format, list }, reading, body) {
  const text = format === 'csv' ? behindHead(reading, body) : itemsOf(reading, list, body);
  if (text) reading.parts.push(text);
  reading.size += text.length;
}

/** A page of a table without the line that the first one begins with. @param {Reading} reading @param {string} body */
function behindHead(reading, body) {
  const isFirst = !reading.head;
  reading.head ||= body.slice(0, body.indexOf('\n') + 1);
  return isFirst ? body : joined([reading.head, body]).slice(reading.head.length);
}

/** The items of a page; the first one also says what is beside them. @param {Reading} reading @param {string} list @param {string} body */
function itemsOf(reading, list, body) {
  const { [list]: items, next_cursor, has_more, ...others } = JSON.parse(body);
  reading.head ||= `${JSON.stringify(others).slice(0, -1)},${JSON.stringify(list)}:[`;
  return items.map((/** @type {unknown} */ item) => JSON.stringify(item)).join(',\n');
}

/** The whole file. @param {Wanted} wanted @param {Reading} reading */
export function blobOf({ format }, { parts, head }) {
  if (format === 'csv') return new Blob(parts, { type: 'text/csv' });
  const items = parts.flatMap((part, index) => (index === 0 ? [part] : [',\n', part]));
  return new Blob([head, '\n', ...items, '\n]}\n'], { type: 'application/json' });
}
