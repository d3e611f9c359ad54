// What the person was told: problems first, the rest newest first.

import { html, useEffect, useRef } from '../../vendor/preact.js';
import { day } from '../../core/format.js';
import { FRESH_MS, markSeen, readFeed, useNews } from '../../core/notifications.js';
import { useResource } from '../../core/resource.js';
import { href, route, setQuery } from '../../core/router.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Further, useFurther } from '../../parts/further/further.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chips.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Loaded, Skeleton } from '../../ui/states.js';
import { useAttention } from './attention.js';
import { NotificationRow } from './row.js';
import { hasAllNews, VIEWS } from './views.js';

/** @typedef {import('../../core/notifications.js').Feed} Feed */
/** @typedef {import('../../core/notifications.js').Notification} Notification */
/** @typedef {import('./views.js').View} View */

const READ_EVERY_MS = 30_000;
/** For how long a notification is kept. */
const KEPT_DAYS = 90;

const waiting = html`<${Skeleton} rows=${8} height=${56} />`;

export function NotificationsPage() {
  const { query } = useStore(route);
  const view = VIEWS.find(({ value }) => value === query.get('kind')) ?? VIEWS[0];
  const news = useNews({ everyMs: READ_EVERY_MS });
  const seenBefore = useSeen(news, view);
  const others = useResource(view.value ? `notifications:${view.value}` : null, () => readFeed(view.kinds), { everyMs: READ_EVERY_MS });
  return html`<${Page} title="Notifications">
    <div class="chips" role="group" aria-label="Notification filter">
      ${VIEWS.map(({ value, label }) => html`<${Chip} key=${value} isOn=${value === view.value} onClick=${() => setQuery({ kind: value })}>${label}<//>`)}
    </div>
    <${Loaded} of=${view.value ? others : news} what="Couldn’t load the notifications." waiting=${waiting}>
      ${(/** @type {Feed} */ first) => html`<${FeedView} key=${view.value} view=${view} first=${first} seenBefore=${seenBefore} />`}
    <//>
  <//>`;
}

/**
 * Notes that the news were seen where all of them are shown, once they were read since the page was opened.
 * @param {import('../../core/resource.js').Resource<Feed>} news
 * @param {View} view
 * @returns {string} what had been seen before, so that the new ones stay marked
 */
function useSeen(news, view) {
  const openedAt = useRef(Date.now() - FRESH_MS);
  const before = useRef(/** @type {string | undefined} */ (undefined));
  const isFresh = news.readAt >= openedAt.current;
  if (isFresh) before.current ??= news.data?.seen_at ?? '';
  useEffect(() => {
    if (isFresh && hasAllNews(view)) markSeen(news);
  }, [news.readAt, view]);
  return before.current ?? news.data?.seen_at ?? '';
}

/** @param {{ view: View, first: Feed, seenBefore: string }} props */
function FeedView({ view, first, seenBefore }) {
  const { me } = useStore(session);
  const further = useFurther('notifications', (cursor) => readFeed(view.kinds, cursor), first);
  const { next } = further;
  /** @type {Notification[]} */
  const all = further.rows;
  const attention = useAttention(all, { isWanted: view.value === '', goesOn: first.next_cursor !== null });
  if (!attention) return waiting;
  if (all.length === 0 && next === null) {
    return html`<${Empty} title=${view.nothing} action=${html`<${Button} href=${href('links')}>Go to your links<//>`}>
      You’ll see click milestones here, links that expire or reach their click limit, outages of monitored URLs, and finished jobs.
    <//>`;
  }
  const rest = all.filter(({ id }) => !attention.some((row) => row.id === id));
  const list = (/** @type {string} */ title, /** @type {Notification[]} */ rows, /** @type {boolean} */ hasDay) => html`<section key=${title} class="stack tight">
    <h2>${title}</h2>
    <${Card} class="flush"><ul class="feed">${rows.map((row) => html`<${NotificationRow} key=${row.id} shown=${row} isNew=${isNew(row, seenBefore)} hasDay=${hasDay} />`)}</ul><//>
  </section>`;
  return html`${(me?.verified === false || me?.undeliverable) &&
    html`<p class="muted">To get these by email, <a href=${href('account')}>confirm your email</a>.</p>`}
    <${Further} of=${further} class="stack" one="notification" many="notifications">
      ${attention.length > 0 && list('Needs attention', attention, true)}
      ${byDay(rest).map(({ title, rows }) => list(title, rows, false))}
      ${next === null && html`<p class="small-print centred">That’s everything from the last ${KEPT_DAYS} days.</p>`}
    <//>`;
}

/** Of one's own new links one knows. @param {Notification} row @param {string} seenBefore */
const isNew = ({ created_at, event_type }, seenBefore) => created_at > seenBefore && event_type !== 'url.created';

/** @param {Notification[]} rows */
function byDay(rows) {
  /** @type {{ title: string, rows: Notification[] }[]} */
  const days = [];
  for (const row of rows) {
    const title = dayTitle(row.created_at);
    const last = days[days.length - 1];
    if (last?.title === title) last.rows.push(row);
    else days.push({ title, rows: [row] });
  }
  return days;
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** `Today`, `Yesterday`, `3 Mar 2026` @param {string} when */
function dayTitle(when) {
  const name = [0, -1].find((days) => day(when) === day(new Date(Date.now() + days * 86_400_000)));
  const title = name === undefined ? day(when) : relative.format(name, 'day');
  return title.charAt(0).toLocaleUpperCase() + title.slice(1);
}
