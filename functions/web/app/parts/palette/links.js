// The links that the palette finds.

import { useEffect, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { knownLinks } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { wordsOf } from './matching.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {{ wanted: string, links: Link[], hasMore: boolean, error?: import('../../core/api.js').ApiError }} Found */

const PAUSE_MS = 180;
const LATEST = 5;
const FOUND = 20;
/** The API looks for one piece of text: for several words, the longest of them is asked for, and the others are looked for here. */
const FOUND_OF_MANY = 100;

/** The latest ones; they are only read if the page of the links hasn't read them. @param {{ isWanted: boolean }} options */
export function useLatest({ isWanted }) {
  const [known] = useState(knownLinks);
  const read = useResource(isWanted && !known ? 'latest' : null, () => call('GET /api/links', { query: { per_page: LATEST } }));
  return /** @type {Link[]} */ (isWanted ? (known ?? read.data?.links ?? []).slice(0, LATEST) : []);
}

/**
 * What was found last, which stays while others are looked for; `wanted` says what for.
 * @param {string} wanted
 * @returns {Found & { tryAgain: () => void }}
 */
export function useSearch(wanted) {
  const [found, setFound] = useState(/** @type {Found} */ ({ wanted: '', links: [], hasMore: false }));
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    /** @param {Partial<Found>} change an answer that is overtaken is dropped */
    const take = (change) => leaving.signal.aborted || setFound((before) => ({ ...before, error: undefined, ...change, wanted }));
    if (!wanted) return void take({ links: [], hasMore: false });
    const words = wordsOf(wanted);
    const isOne = words.length === 1;
    const search = isOne ? wanted : wanted.split(/\s+/).sort((one, other) => other.length - one.length)[0];
    const ask = () => call('GET /api/links', { query: { search, per_page: isOne ? FOUND : FOUND_OF_MANY }, signal: leaving.signal });
    const timer = setTimeout(
      () => ask().then(({ links, next_cursor: next }) => take({ links, hasMore: next !== null }), (error) => take({ error, hasMore: false })),
      PAUSE_MS,
    );
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [wanted, attempt]);
  const tryAgain = () => {
    setFound({ ...found, wanted: '' });
    setAttempt(attempt + 1);
  };
  return { ...found, tryAgain };
}
