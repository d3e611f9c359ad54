/** Events after which there is nothing left to look at. */
const WITHOUT_PAGE = ['url.purged'];

/**
 * The page of what a notification is about, and its query.
 * @param {Pick<import('../../core/notifications.js').Notification, 'event_type' | 'short_code' | 'target_id' | 'job_id'>} shown
 * @returns {[page: string, query?: Record<string, string>] | undefined}
 */
export function pageOf({ event_type, short_code, target_id, job_id }) {
  if (WITHOUT_PAGE.includes(event_type)) return undefined;
  if (short_code) return [`links/${short_code}`];
  if (target_id) return [`monitoring/${target_id}`];
  return job_id ? ['settings', { job: job_id }] : undefined;
}
