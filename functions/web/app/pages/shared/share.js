// The share that an address opens.

import { useEffect } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { basePath } from '../../core/address.js';
import { setQuery } from '../../core/router.js';

/** @typedef {{ kind: string, name: string, token: string, password?: string }} Share `kind` is `links` or `tags` */

/**
 * The shares that were opened here. Each is in memory and in this tab's sessionStorage, and not in its address, so that the page can be
 * reloaded, while the token is in no history entry, bookmark or screenshot, and no other tab or later visitor of this browser has it.
 * @type {Map<string, Share>}
 */
const opened = new Map();

/** @param {string} kind @param {string} name */
const placeOf = (kind, name) => `linklet:share:${basePath}:${kind}/${name}`;

/** @param {Share} share */
export function keepShare(share) {
  const place = placeOf(share.kind, share.name);
  opened.set(place, share);
  try {
    sessionStorage.setItem(place, JSON.stringify(share));
  } catch {
    // It lasts until the page is reloaded.
  }
}

/** @param {string} place @returns {Share | undefined} */
function stored(place) {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Takes the token out of the address. @param {import('../../core/router.js').Route} route @returns {Share | undefined} */
export function useShare({ parts: [, kind = '', name = ''], query }) {
  const token = query.get('token');
  const place = placeOf(kind, name);
  const known = opened.get(place) ?? stored(place);
  const share = token && token !== known?.token ? { kind, name, token } : known;
  if (share && share !== opened.get(place)) keepShare(share);
  useEffect(() => {
    if (token) setQuery({ token: '' });
  }, [token]);
  return share;
}

/** What a call says of who makes it. @param {Share} share */
export const asShare = ({ token, password }) => ({
  anonymous: true,
  headers: { 'X-Share-Token': token, ...(password && { 'X-Share-Password': encodeURIComponent(password) }) },
});

/** @param {Share} share @param {{ from?: string, to?: string }} days @returns {Promise<import('../../core/lists.js').Overview>} */
export const readOverview = (share, days) => call('GET /api/overview', { query: { tag: share.name, ...days }, ...asShare(share) });

/** @param {Share} share @param {{ from?: string, to?: string }} days */
export const readBreakdownsOf = (share, days) => call('GET /api/overview/breakdowns', { query: { tag: share.name, ...days }, ...asShare(share) });

/**
 * @param {Share} share
 * @param {{ from: string, to: string, tz: string, interval: string }} query
 * @returns {Promise<import('../../parts/times/answer.js').Answer>}
 */
export const readNumbers = (share, query) => call('GET /api/stats/{code}', { path: { code: share.name }, query, ...asShare(share) });
