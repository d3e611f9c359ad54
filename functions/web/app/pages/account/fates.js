// What becomes of a workspace when somebody's account is closed.

import { call } from '../../core/api.js';
import { lastYear } from '../../core/days.js';
import { currentWorkspace, session } from '../../core/session.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {import('../../core/session.js').MyWorkspace} MyWorkspace */

/**
 * `ends`: nobody else is in it. `stays`: others go on with it. `needs`: others are in it, and none of them is an admin.
 * @typedef {object} Fate
 * @property {'ends' | 'stays' | 'needs'} kind
 * @property {number} [links] those of the person, or all of a workspace that ends
 * @property {number} [clicks]
 * @property {boolean} [isPart] whether not all clicks were counted
 */

/** @param {MyWorkspace} workspace @returns {Promise<Fate>} */
export async function readFate(workspace) {
  const token = await tokenFor(workspace);
  const { members } = await call('GET /api/workspace/members', { token });
  const { user_id: me = '' } = session.get().me ?? {};
  const others = members.filter((/** @type {Member} */ member) => member.user_id !== me);
  if (others.length === 0) return { kind: 'ends', ...(await allOf(token)) };
  if (!others.some((/** @type {Member} */ member) => member.role === 'admin' && !member.paused_at)) return { kind: 'needs' };
  // Deleted links are handed over, too.
  const { total } = await call('GET /api/links', { token, query: { created_by: me, status: 'all', archived: 'all', per_page: 1 } });
  return { kind: 'stays', links: total };
}

/** A token for it, if one's own isn't. @param {MyWorkspace} workspace @returns {Promise<string | undefined>} */
async function tokenFor(workspace) {
  if (workspace === currentWorkspace()) return undefined;
  return (await call('POST /api/auth/switch', { body: { workspace: workspace.slug } })).token;
}

/** @param {string | undefined} token */
async function allOf(token) {
  const { links, period } = await call('GET /api/overview', { token, query: lastYear() });
  return { links: links.total + links.archived, clicks: period?.clicks ?? 0, isPart: period?.covers !== undefined };
}
