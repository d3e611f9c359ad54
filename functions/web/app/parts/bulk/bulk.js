// What is done to many links: a hundred in a request, whose answer has a result for each.

import { ApiError, refusalOf } from '../../core/api.js';
import { session } from '../../core/session.js';

export { ProgressText } from './progress.js';

/** How many links a request may name. The codes of so many also fit into an address. */
export const MOST_LINKS = 100;
/** A body may have 256 KB. */
const MOST_BYTES = 250_000;
/** How often in a row a request may get nothing done. */
const ATTEMPTS = 4;
const WAIT_S = 1;

/**
 * @typedef {{ done: number, all: number, retryAfter?: number }} Progress `retryAfter` is in how many seconds it goes on
 * @typedef {(progress: Progress) => void} Tell
 * @typedef {{ status: number, link: any, problem: any }} Result what the thing alone would have got
 */

/**
 * @template T
 * @typedef {{ thing: T, link?: any, error?: ApiError, isSent: boolean }} Outcome with the link as it is then, or why that failed
 */

/**
 * Sends all, and those again that have to wait.
 * @template T
 * @param {T[]} things
 * @param {(things: T[]) => Promise<{ results: Result[] }>} send
 * @param {object} [options]
 * @param {Tell} [options.tell]
 * @param {(thing: T) => number} [options.bytesOf] how much room one takes up in a body, if that matters
 * @returns {Promise<Outcome<T>[]>} in the order of the things
 */
export async function sendAll(things, send, { tell = () => {}, bytesOf = () => 0 } = {}) {
  /** @type {Map<T, Outcome<T>>} */
  const settled = new Map();
  const { visit } = session.get();
  const tellNow = (/** @type {number | undefined} */ retryAfter) => tell({ done: settled.size, all: things.length, retryAfter });
  /** @type {ApiError | undefined} */
  let failure;
  for (const piece of piecesOf(things, bytesOf)) {
    tellNow(undefined);
    // What made a whole request fail would make the next one fail, too.
    failure ??= await settle(piece, send, settled, visit, tellNow);
  }
  return things.map((thing) => settled.get(thing) ?? { thing, error: failure, isSent: false });
}

/**
 * @template T
 * @param {T[]} things
 * @param {(thing: T) => number} bytesOf
 */
export function piecesOf(things, bytesOf) {
  /** @type {T[][]} */
  const pieces = [];
  let bytes = Infinity;
  for (const thing of things) {
    bytes += bytesOf(thing);
    const piece = pieces.at(-1);
    if (piece && piece.length < MOST_LINKS && bytes <= MOST_BYTES) {
      piece.push(thing);
    } else {
      pieces.push([thing]);
      bytes = bytesOf(thing);
    }
  }
  return pieces;
}

/**
 * @template T
 * @param {T[]} piece
 * @param {(things: T[]) => Promise<{ results: Result[] }>} send
 * @param {Map<T, Outcome<T>>} settled takes what was done, or can't be
 * @param {number} visit the workspace that the links are in
 * @param {(retryAfter: number | undefined) => void} tellNow
 * @returns {Promise<ApiError | undefined>} why some of it isn't settled
 */
async function settle(piece, send, settled, visit, tellNow) {
  let open = piece;
  for (let attempt = 1; ; attempt += 1) {
    if (session.get().visit !== visit) return new ApiError('problem', 'You switched to another workspace.');
    const before = settled.size;
    const error = await sendOnce(open, send, settled);
    open = open.filter((thing) => !settled.has(thing));
    if (open.length === 0) return undefined;
    if (settled.size > before) attempt = 0;
    if (!error || !hasToWait(error) || attempt === ATTEMPTS) return error;
    const { retryAfter = WAIT_S } = error;
    tellNow(retryAfter);
    await new Promise((done) => setTimeout(done, retryAfter * 1_000));
    tellNow(undefined);
  }
}

/**
 * @template T
 * @param {T[]} things
 * @param {(things: T[]) => Promise<{ results: Result[] }>} send
 * @param {Map<T, Outcome<T>>} settled
 * @returns {Promise<ApiError | undefined>} why it has failed as a whole, or why something has to wait
 */
async function sendOnce(things, send, settled) {
  try {
    const { results } = await send(things);
    const outcomes = things.map((thing, index) => outcomeOf(thing, results[index]));
    const late = outcomes.filter(({ error }) => error && hasToWait(error));
    for (const outcome of outcomes) if (!late.includes(outcome)) settled.set(outcome.thing, outcome);
    return late[0]?.error;
  } catch (error) {
    if (error instanceof ApiError) return error;
    console.error(error);
    return new ApiError('broken', 'Something went wrong.');
  }
}

/** @param {ApiError} error */
const hasToWait = ({ status, code }) => status === 429 || code === 'try_again';

/**
 * @template T
 * @param {T} thing
 * @param {Result} result
 * @returns {Outcome<T>}
 */
const outcomeOf = (thing, { status, link, problem }) => ({ thing, link, error: problem ? refusalOf(problem, { status }) : undefined, isSent: true });
