/** Events after which there is nothing left to look at. */
const WITHOUT_PAGE = ['url.purged'];

/** The page of what a notification is about. @param {Pick<import('../../core/notifications.js').Notification, 'event_type' | 'short_code' | 'target_id'>} shown */
export function pageOf({ event_type, short_code, target_id }) {
  if (WITHOUT_PAGE.includes(event_type)) return undefined;
  if (short_code) return `links/${short_code}`;
  return target_id && `monitoring/${target_id}`;
}
