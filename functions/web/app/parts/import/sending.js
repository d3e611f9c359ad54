// Sends a file piece by piece. The API remembers nothing between requests, and a repeated row changes nothing, so whatever is interrupted
// can be sent again.

import { ApiError, call } from '../../core/api.js';
import { session } from '../../core/session.js';
import { cutterOf } from './cutting.js';

/** @typedef {'created' | 'same' | 'taken' | 'invalid' | 'unsupported' | 'no_link' | 'too_old' | 'not_tried'} Status */
/** @typedef {{ line: number, status: Status, short_code: string | null, original_url: string | null, reason: string | null, ignored: string[] }} Row */
/** @typedef {{ format?: string, from?: string, tags: string[], on_conflict: 'skip' | 'new_code', timezone: string }} Choices */
/** @typedef {import('./cutting.js').Piece} Piece */
/** @typedef {Partial<Record<Status, number>>} Counts */

/**
 * How far a file was sent.
 * @typedef {object} Progress
 * @property {Counts} links
 * @property {Counts} clicks single ones
 * @property {Row[]} told the first rows to look at: no link has come of them, or one that isn't as it was
 * @property {number} toldCount how many there are
 * @property {number} failedCount of how many no link has come
 * @property {number} pieces how many were sent
 * @property {Map<number, number[]>} waiting by piece, which rows are clicks whose links may come later
 * @property {boolean} isSecond whether these are sent again
 * @property {number} share of the file, up to 1
 * @property {boolean} isDone
 * @property {number} [retryAfter] in how many seconds it goes on
 */

/** What a file of a million rows may keep of them. */
export const MOST_TOLD = 10_000;
const HEAD_BYTES = 65_536;
const FIRST_ROWS = 20;
const RETRY_S = 2;
const ATTEMPTS = 5;
const TOO_MANY = 429;
const REFUSALS = [400, 413, 422];
const DOUBTFUL = 'this row has a damaged letter';
const DAMAGED_URL = 'a URL has a damaged letter';
const STUCK = 'The import can’t continue now. Try again in a few minutes.';

/** @returns {Progress} */
export const noProgress = () => ({ links: {}, clicks: {}, told: [], toldCount: 0, failedCount: 0, pieces: 0, waiting: new Map(), isSecond: false, share: 0, isDone: false });

/** The bytes of a file in pieces. @param {File} file */
async function* bytesOf(file) {
  const reader = file.stream().getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

/** By its first bytes, or by whether more of its letters are UTF-8 than aren't, so that a damaged byte costs its row. @param {File} file */
export async function encodingOf(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const decoder = new TextDecoder();
  let balance = 0;
  const weigh = (/** @type {string} */ text) => {
    for (const letter of text.match(/[^\0-\x7F]/gu) ?? []) balance += letter === '\uFFFD' ? -1 : 1;
  };
  for await (const bytes of bytesOf(file)) weigh(decoder.decode(bytes, { stream: true }));
  weigh(decoder.decode());
  return balance < 0 ? 'windows-1252' : 'utf-8';
}

/** The requests that a file makes. @param {File} file @param {string} encoding @param {{ mostRows?: number }} [options] */
async function* piecesOf(file, encoding, options) {
  const decoder = new TextDecoder(encoding);
  const cutter = cutterOf(new TextDecoder(encoding).decode(await file.slice(0, HEAD_BYTES).arrayBuffer()), options);
  let read = 0;
  for await (const bytes of bytesOf(file)) {
    read += bytes.length;
    for (const piece of cutter.push(decoder.decode(bytes, { stream: true }))) yield { piece, share: read / file.size };
  }
  for (const piece of [...cutter.push(decoder.decode()), ...cutter.end()]) yield { piece, share: 1 };
}

/**
 * What is recognized of a file, and what would become of its first rows.
 * @param {File} file @param {string} encoding @param {Choices} choices
 * @returns {Promise<{ format: string, results: Row[] } | undefined>}
 */
export async function look(file, encoding, choices) {
  for await (const { piece } of piecesOf(file, encoding, { mostRows: FIRST_ROWS })) {
    if (piece.lines.length === 0) continue;
    try {
      return await post(piece, choices, true);
    } catch (error) {
      if (!(piece.mayBeOther && isOther(error))) throw error;
    }
  }
  return undefined;
}

/** Whether nothing of a text was recognized. @param {unknown} error */
const isOther = (error) => error instanceof ApiError && error.status === 400 && error.field === 'text';

/** @param {Piece} piece @param {Choices} choices @param {boolean} isDry @returns {Promise<{ format: string, results: Row[] }>} */
async function post({ text, firstLine, doubtful, damaged }, choices, isDry) {
  const { format, results } = await call('POST /api/import', { body: { ...choices, text, first_line: firstLine, dry_run: isDry } });
  for (const at of doubtful) if (results[at]) results[at].reason ??= DOUBTFUL;
  return { format, results: [...results, ...damaged.map((line) => refused(line, DAMAGED_URL))] };
}

/**
 * Sends what is left of a file.
 * @param {File} file
 * @param {string} encoding
 * @param {Choices} choices
 * @param {{ isDry: boolean, signal: AbortSignal, tell: (progress: Progress) => void, from?: Progress }} options `from` is where it was stopped
 * @returns {Promise<Progress>}
 */
export async function sendFile(file, encoding, choices, { isDry, signal, tell, from = noProgress() }) {
  const { visit } = session.get();
  const progress = { ...from };
  const isStopped = () => signal.aborted || session.get().visit !== visit;
  const wait = (/** @type {number} */ retryAfter) => {
    tell({ ...progress, retryAfter });
    return pause(retryAfter * 1_000, signal);
  };
  /** @param {Piece} piece */
  const send = async (piece) => {
    const rows = await sendPiece(piece, choices, isDry, isStopped, wait);
    return rows.some(({ status }) => status === 'not_tried') ? undefined : rows;
  };
  if (!progress.isSecond) {
    if (!(await sendAll(send))) return progress;
    // A dump may have clicks before their links.
    const { created = 0, same = 0 } = progress.links;
    if (isDry || progress.waiting.size === 0 || created + same === 0) return end();
    Object.assign(progress, { isSecond: true, pieces: 0, share: 0 });
  }
  return (await sendAll(send)) ? end() : progress;

  /** @param {(piece: Piece) => Promise<Row[] | undefined>} post @returns {Promise<boolean>} whether it has come to the end */
  async function sendAll(post) {
    let index = -1;
    for await (const { piece, share } of piecesOf(file, encoding)) {
      index += 1;
      const wanted = progress.waiting.get(index);
      if (index < progress.pieces || (progress.isSecond && !wanted)) continue;
      if (isStopped()) return false;
      const rows = await post(piece);
      if (!rows) return false;
      if (progress.isSecond) {
        for (const at of wanted ?? []) if (rows[at]) note(progress, rows[at], isDry);
        progress.waiting.delete(index);
      } else {
        noteFirst(index, rows);
      }
      Object.assign(progress, { pieces: index + 1, share });
      tell({ ...progress });
    }
    return true;
  }

  /** @param {number} index @param {Row[]} rows */
  function noteFirst(index, rows) {
    const later = rows.flatMap(({ status }, at) => (status === 'no_link' && !isDry ? [at] : []));
    if (later.length > 0) progress.waiting.set(index, later);
    for (const row of rows) if (row.status !== 'no_link' || isDry) note(progress, row, isDry);
  }

  function end() {
    // No link has come, so none of the clicks has one.
    const without = [...progress.waiting.values()].reduce((sum, rows) => sum + rows.length, 0);
    if (without > 0) {
      progress.clicks.no_link = (progress.clicks.no_link ?? 0) + without;
      progress.failedCount += without;
      progress.waiting.clear();
    }
    return { ...progress, isDone: true, share: 1 };
  }
}

/** Whether a row is a single click. @param {Row} row */
export const isClick = ({ original_url: url, short_code: code }) => url === null && code !== null;

/** @param {Progress} progress @param {Row} row @param {boolean} isDry */
function note(progress, row, isDry) {
  const counts = isClick(row) ? progress.clicks : progress.links;
  counts[row.status] = (counts[row.status] ?? 0) + 1;
  const isFine = row.status === 'created' || row.status === 'same' || row.status === 'too_old' || (isDry && row.status === 'no_link');
  if (!isFine) progress.failedCount += 1;
  if (isFine && !row.reason && row.ignored.length === 0) return;
  if (isFine && row.status !== 'created') return;
  progress.toldCount += 1;
  if (progress.told.length < MOST_TOLD) progress.told.push(row);
}

/**
 * The rows of a piece, each as it was tried last.
 * @param {Piece} piece
 * @param {Choices} choices
 * @param {boolean} isDry
 * @param {() => boolean} isStopped
 * @param {(seconds: number) => Promise<void>} wait
 * @returns {Promise<Row[]>}
 */
async function sendPiece(piece, choices, isDry, isStopped, wait) {
  if (piece.lines.length === 0) return piece.damaged.map((line) => refused(line, DAMAGED_URL));
  /** @type {Row[] | undefined} */
  let rows;
  for (let attempt = 1; ; attempt += 1) {
    let seconds = RETRY_S;
    try {
      const before = rows;
      const { results } = await post(piece, choices, isDry);
      // What was created is the same afterwards.
      rows = results.map((row, at) => (before && before[at]?.status !== 'not_tried' ? before[at] : row));
      const left = untried(rows);
      if (left === 0) return rows;
      if (left < (before ? untried(before) : results.length)) attempt = 0;
      if (attempt >= ATTEMPTS) throw new Error(STUCK);
      seconds = RETRY_S * attempt;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (piece.mayBeOther && isOther(error)) return [];
      if (REFUSALS.includes(error.status)) return [...piece.lines, ...piece.damaged].map((line) => refused(line, error.message));
      if (!error.isTemporary || (attempt >= ATTEMPTS && error.status !== TOO_MANY)) throw error;
      seconds = error.retryAfter ?? RETRY_S * attempt;
    }
    if (seconds > 0) await wait(seconds);
    if (isStopped()) return rows ?? [{ ...refused(piece.firstLine, ''), status: 'not_tried' }];
  }
}

/** @param {Row[]} rows */
const untried = (rows) => rows.filter(({ status }) => status === 'not_tried').length;

/** @param {number} line @param {string} reason @returns {Row} */
const refused = (line, reason) => ({ line, status: 'invalid', short_code: null, original_url: null, reason, ignored: [] });

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
const pause = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      done();
    });
  });
