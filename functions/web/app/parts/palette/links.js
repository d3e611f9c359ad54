// The links that the palette finds.

import { useEffect, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { knownLinks } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { piecesOf } from './matching.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {{ wanted: string, links: Link[], hasMore: boolean, error?: import('../../core/api.js').ApiError }} Found */

const PAUSE_MS = 180;
const LATEST = 5;
const FOUND = 20;
/** The API looks for one piece of text: several words are asked for as they are, and by one of them, of which the others are looked for here. */
const FOUND_OF_MANY = 100;

/** The latest ones; they are only read if the page of the links hasn't read them. @param {{ isWanted: boolean }} options */
export function useLatest({ isWanted }) {
  const [known] = useState(knownLinks);
  const read = useResource(isWanted && !known ? 'latest' : null, () => call('GET /api/links', { query: { per_page: LATEST } }));
  return /** @type {Link[]} */ (isWanted ? (known ?? read.data?.links ?? []).slice(0, LATEST) : []);
}

/** What several answers have, each link once. @param {{ links: Link[], next_cursor: string | null }[]} answers */
const joined = (answers) => ({
  links: [...new Map(answers.flatMap(({ links }) => links.map((link) => [link.short_code, link]))).values()],
  hasMore: answers.some(({ next_cursor: next }) => next !== null),
});

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
    const ask = (/** @type {string} */ search, /** @type {number} */ at) => call('GET /api/links', { query: { search, per_page: at ? FOUND_OF_MANY : FOUND }, signal: leaving.signal });
    const timer = setTimeout(
      () => Promise.all(piecesOf(wanted).map(ask)).then((answers) => take(joined(answers)), (error) => take({ error, hasMore: false })),
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
