// What somebody has to look at now.

import { useOverview } from '../../parts/link-changes/counts.js';
import { readFeed } from '../../core/notifications.js';
import { useResource } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';

/** @typedef {import('../../core/notifications.js').Notification} Notification */

/** After these, a link leads nowhere any more unless somebody does something. */
const ENDED = ['url.expired', 'url.exhausted', 'url.suspended'];
const RECENT_MS = 7 * 86_400_000;

/**
 * What is down and has not come up again, and of the last week the links that expired or were used up and what could not be delivered.
 * @param {Notification[]} rows newest first
 * @param {(down: Notification) => boolean} isOver whether it is known otherwise that a URL isn't down any more
 */
export function attentionOf(rows, isOver) {
  const since = new Date(Date.now() - RECENT_MS).toISOString();
  /** About what there is something newer. */
  const settled = new Set();
  return rows.filter((row) => {
    const about = row.target_id ?? row.short_code;
    const isLatest = !settled.has(about);
    if (row.event_type !== 'milestone.reached') settled.add(about);
    if (row.event_type === 'target.down' && isLatest) return !isOver(row);
    return row.created_at > since && (row.status === 'failed' || (ENDED.includes(row.event_type) && isLatest));
  });
}

/**
 * The same, with problems that are too old for the rows that were read.
 * @param {Notification[]} read
 * @param {{ isWanted: boolean, goesOn: boolean }} options whether there are older rows
 * @returns {Notification[] | undefined} nothing while it isn't known
 */
export function useAttention(read, { isWanted, goesOn }) {
  const { workspaces } = useStore(session);
  const problems = useResource(isWanted && goesOn ? 'notifications:problem' : null, () => readFeed(['problem']));
  const rows = newestFirst([...(problems.data?.notifications ?? []), ...read]);
  const isDown = attentionOf(rows, () => false).some(({ event_type }) => event_type === 'target.down');
  const overview = useOverview({ isWanted: isWanted && isDown });
  if (!isWanted) return [];
  if (problems.isLoading || overview.isLoading) return undefined;
  const now = overview.data;
  // Monitoring may have ended, of which nobody is told. The overview is this workspace's, and may lack some of very many.
  const isComplete = workspaces?.length === 1 && !now?.incomplete?.includes('down');
  return attentionOf(rows, (down) => now !== undefined && isComplete && down.created_at < now.as_of && !now.down.some(({ id }) => id === down.target_id));
}

/** @param {Notification[]} rows */
function newestFirst(rows) {
  const each = new Map(rows.map((row) => [row.id, row]));
  return [...each.values()].sort((a, b) => b.created_at.localeCompare(a.created_at) || b.id.localeCompare(a.id));
}
