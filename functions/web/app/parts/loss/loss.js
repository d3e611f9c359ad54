// What is lost with a workspace.

import { call } from '../../core/api.js';
import { lastYear } from '../../core/days.js';

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
  const { links, period, incomplete = [] } = await call('GET /api/overview', { token, query: lastYear() });
  return {
    links: links.total + links.archived,
    clicks: period?.clicks ?? 0,
    isPart: period?.covers !== undefined || incomplete.includes('clicks'),
    ...(incomplete.includes('links') && { hasMoreLinks: true }),
  };
}
