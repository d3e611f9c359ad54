// What is lost with a workspace.

import { call } from '../../core/api.js';
import { DAY_MS } from '../../core/format.js';

/**
 * @typedef {object} Loss
 * @property {number} links
 * @property {number} clicks of the last 12 months
 * @property {boolean} isPart whether there are more clicks
 * @property {true} [hasMoreLinks]
 */

/** Of a large workspace, only a part is counted. @param {string} [token] of another workspace @returns {Promise<Loss>} */
export async function readLoss(token) {
  /** @type {import('../../core/lists.js').Overview} */
  const { links, period, incomplete } = await call('GET /api/overview', { token, query: lastYear() });
  return {
    links: links.total + links.archived,
    clicks: period?.total_clicks ?? 0,
    isPart: Boolean(period?.covers) || incomplete.includes('clicks'),
    ...(incomplete.includes('links') && { hasMoreLinks: true }),
  };
}

const YEAR_DAYS = 365;

/** The year that ends today, in UTC's days: of the clicks of older ones nobody knows. */
function lastYear() {
  const dayOf = (/** @type {number} */ time) => new Date(time).toISOString().slice(0, 10);
  const today = Date.now();
  return { from: dayOf(today - (YEAR_DAYS - 1) * DAY_MS), to: dayOf(today) };
}
