import { session } from '../../core/session.js';

/** Events after which there is nothing left to look at. */
const WITHOUT_PAGE = ['url.purged'];

/**
 * The page of what a notification is about, its query, and the workspace if that is another one than the tab is in: by its id, which
 * an address may have instead of a slug.
 * @param {Pick<import('../../core/notifications.js').Notification, 'event_type' | 'workspace_id' | 'short_code' | 'target_id' | 'job_id'>} shown
 * @returns {[page: string, query: Record<string, string>, workspace: string | undefined] | undefined}
 */
export function pageOf({ event_type, workspace_id, short_code, target_id, job_id }) {
  const workspace = workspace_id === session.get().me?.workspace_id ? undefined : workspace_id;
  if (WITHOUT_PAGE.includes(event_type)) return undefined;
  if (short_code) return [`links/${short_code}`, {}, workspace];
  if (target_id) return [`monitoring/${target_id}`, {}, workspace];
  return job_id ? ['settings', { job: job_id }, workspace] : undefined;
}
