// What the person was told, newest first. The API doesn't know what was read, so nothing is marked.

import { html, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { day } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Loaded, Skeleton } from '../../ui/states.js';
import { toastFailure } from '../../ui/toast.js';
import { NotificationRow } from './row.js';

/** @typedef {import('./row.js').Notification} Notification */
/** @typedef {{ notifications: Notification[], next_cursor: string | null }} Feed */

const PAGE = 50;
const READ_EVERY_MS = 30_000;
/** For how long a notification is kept. */
const KEPT_DAYS = 90;

/** @param {string} [after] @returns {Promise<Feed>} */
const read = (after) => call('GET /api/notifications', { query: { limit: PAGE, after } });

export function NotificationsPage() {
  const resource = useResource('notifications', () => read(), { everyMs: READ_EVERY_MS });
  const waiting = html`<${Skeleton} rows=${8} height=${56} />`;
  return html`<${Page} title="Notifications">
    <${Loaded} of=${resource} what="The notifications can’t be shown." waiting=${waiting}>
      ${(/** @type {Feed} */ first) => html`<${FeedView} first=${first} />`}
    <//>
  <//>`;
}

/** @param {{ first: Feed }} props */
function FeedView({ first }) {
  const { me } = useStore(session);
  const { all, cursor, more, isBusy } = useFurther(first);
  if (all.length === 0) {
    return html`<${Empty} title="Nothing has happened yet" action=${html`<${Button} href="#/links">To your links<//>`}>
      Here you read when one of your links expires or reaches a round number of clicks, and when a URL that you monitor is down.
    <//>`;
  }
  return html`${me?.verified === false &&
    html`<p class="muted">You read this here only, and not by mail, until you <a href="#/account">confirm your address</a>.</p>`}
    ${byDay(all).map(
      ({ title, rows }) => html`<section key=${title} class="stack tight">
        <h2>${title}</h2>
        <${Card} class="flush"><ul class="feed">${rows.map((row) => html`<${NotificationRow} key=${row.id} shown=${row} />`)}</ul><//>
      </section>`,
    )}
    ${cursor
      ? html`<p class="row centred"><${Button} isBusy=${isBusy} onClick=${more}>Load more<//></p>`
      : html`<p class="small-print centred">That’s all of the last ${KEPT_DAYS} days.</p>`}`;
}

/**
 * The first page, which is read again now and then, and those that were asked for.
 * @param {Feed} first
 */
function useFurther(first) {
  const seen = useRef(/** @type {Map<string, Notification>} */ (new Map()));
  const [cursor, setCursor] = useState(first.next_cursor);
  const [isBusy, setBusy] = useState(false);
  const keep = (/** @type {Notification[]} */ rows) => rows.forEach((row) => seen.current.set(row.id, row));
  keep(first.notifications);

  async function more() {
    if (!cursor || isBusy) return;
    setBusy(true);
    try {
      const page = await read(cursor);
      keep(page.notifications);
      setCursor(page.next_cursor);
    } catch (error) {
      toastFailure('No more could be loaded.', error);
    } finally {
      setBusy(false);
    }
  }

  const all = [...seen.current.values()].sort((a, b) => b.created_at.localeCompare(a.created_at) || b.id.localeCompare(a.id));
  return { all, cursor, more, isBusy };
}

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
