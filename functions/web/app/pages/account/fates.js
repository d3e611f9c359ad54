// What becomes of a workspace when somebody's account is closed.

import { call, readAll } from '../../core/api.js';
import { currentWorkspace, session } from '../../core/session.js';
import { readLoss } from '../../parts/loss/loss.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {import('../../core/session.js').MyWorkspace} MyWorkspace */

/**
 * What becomes of it, and of how much: of the person's own links, or of all in a workspace that ends.
 * `ends`: nobody else is in it. `stays`: others go on with it. `needs`: others are in it, and none of them is an admin.
 * @typedef {{ kind: 'ends' | 'stays' | 'needs' } & Partial<import('../../parts/loss/loss.js').Loss>} Fate
 */

/** @param {MyWorkspace} workspace @returns {Promise<Fate>} */
export async function readFate(workspace) {
  const token = await tokenFor(workspace);
  const { members } = await readAll('members', 'GET /api/workspace/members', token);
  const { user_id: me = '' } = session.get().me ?? {};
  const others = members.filter((/** @type {Member} */ member) => member.user_id !== me);
  if (others.length === 0) return { kind: 'ends', ...(await readLoss(token)) };
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
