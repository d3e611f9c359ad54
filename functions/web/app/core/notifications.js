// What the person was told: the frame counts what is new of it, and the page shows it.

import { call } from './api.js';
import { useResource } from './resource.js';
import { session } from './session.js';
import { useStore } from './store.js';

/**
 * About a link, a monitored URL or a job.
 * @typedef {{ id: string, event_type: string, status: 'pending' | 'sent' | 'failed', created_at: string, sent_at: string | null, message: string, workspace_id: string, short_code?: string, target_id?: string, job_id?: string }} Notification
 */
/** @typedef {{ notifications: Notification[], next_cursor: string | null, seen_at?: string | null }} Feed */

const AT_ONCE = 100;
/** Frame and page begin with the same reading. */
export const FRESH_MS = 2_000;

/** All kinds but one's own new links. */
export const NEWS = ['problem', 'milestone', 'deletion', 'change', 'job'];

/** @param {string[]} kind @param {string} [after] @returns {Promise<Feed>} */
export const readFeed = (kind, after) => call('GET /api/notifications', { query: { kind, limit: AT_ONCE, after } });

/** What was marked here: an answer of the next moment may not know it yet. */
let marked = { by: '', at: '' };

async function readNews() {
  const feed = await readFeed(NEWS);
  return marked.by === session.get().email && marked.at > (feed.seen_at ?? '') ? { ...feed, seen_at: marked.at } : feed;
}

/** The news, once it is known who that is. @param {{ everyMs?: number }} [options] @returns {import('./resource.js').Resource<Feed>} */
export function useNews(options) {
  const { me } = useStore(session);
  return useResource(me?.role ? 'notifications' : null, readNews, { ...options, freshMs: FRESH_MS });
}

/** How many of them are new, as people read it; nothing if none is. @param {Feed | undefined} feed */
export function newCount(feed) {
  if (!feed) return '';
  const count = feed.notifications.filter(({ created_at }) => created_at > (feed.seen_at ?? '')).length;
  if (count >= AT_ONCE) return `${AT_ONCE - 1}+`;
  const goesOn = feed.next_cursor && count === feed.notifications.length;
  return count ? `${count}${goesOn ? '+' : ''}` : '';
}

/** Notes that they were seen, if one is new. @param {import('./resource.js').Resource<Feed>} news */
export function markSeen(news) {
  const at = newCount(news.data) && news.data?.notifications[0].created_at;
  if (!at) return;
  marked = { by: session.get().email, at };
  news.change((feed) => ({ ...feed, seen_at: at }));
  // If that fails, the next reading tells that they are still new.
  call('POST /api/notifications/seen', { body: { seen_at: at } }).catch(() => (marked.at = ''));
}
