// Which of the single clicks that were read fit a view, as the API judges them: what comes needs no question of its own.

import { AUDIENCES } from '../../parts/times/audience.js';
import { NONE, UNKNOWN_COUNTRY } from '../../parts/panels/kinds.js';

/** @typedef {import('./read.js').Click} Click */

/** The API cuts pages of referrers to so many bytes. */
const PAGE_BYTES = 100;

/** The value that a click has of a kind. @type {Record<string, (click: Click) => string>} */
const VALUES = {
  country: ({ country }) => country ?? UNKNOWN_COUNTRY,
  device: ({ device }) => device,
  browser: ({ browser }) => browser,
  os: ({ os }) => os,
  source: ({ source }) => source,
  campaign: ({ campaign }) => campaign ?? NONE,
  referer: ({ referer }) => (referer && pageOf(referer)) || NONE,
};

/** Whether single clicks tell all that is asked: where they have led, they don't. @param {import('../../parts/times/answer.js').Filter} filter */
export const isTold = (filter) => Object.keys(filter).every((name) => name in VALUES);

/**
 * @param {Click} click
 * @param {import('./read.js').View} view
 * @param {{ start: number, end: number }} period
 */
export function fits(click, { audience, filter }, { start, end }) {
  const at = Date.parse(click.clicked_at);
  if (at < start || at >= end || !AUDIENCES[audience].includes(click.audience)) return false;
  return Object.entries(filter).every(([name, wanted]) => {
    const value = VALUES[name]?.(click) ?? NONE;
    return wanted.includes(value) || (name === 'referer' && wanted.includes(siteOf(value))) || (name === 'country' && wanted.some((one) => one.toUpperCase() === value));
  });
}

/** @param {string} referer */
function pageOf(referer) {
  const bytes = new TextEncoder().encode(referer.split(/[?#]/)[0]);
  let end = Math.min(bytes.length, PAGE_BYTES);
  // A letter isn't cut in two.
  while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.slice(0, end));
}

/** The host of a page; an app is its own. @param {string} page */
const siteOf = (page) => (/^[a-z]+-app:/.test(page) ? page : page.split('://')[1]?.split('/')[0] ?? '');
