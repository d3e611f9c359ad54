import { html, useState } from '../../vendor/preact.js';
import { guessUrl } from '../../core/address.js';
import { call } from '../../core/api.js';
import { age, counted, cutMiddle, fullTime, number, withoutScheme } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { useOverview } from '../../parts/link-changes/counts.js';
import { invalidate, useResource } from '../../core/resource.js';
import { href, navigate, route, setQuery } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { useShortcuts } from '../../core/shortcuts.js';
import { useStore } from '../../core/store.js';
import { latencyText } from '../../parts/checks/checks.js';
import { Button } from '../../ui/button.js';
import { Chip, Status } from '../../ui/chips.js';
import { Field } from '../../ui/field.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, FormFailure, Loaded, Notice, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { outcome, READ_EVERY_MS, STATES } from './targets.js';

/** @typedef {import('./targets.js').ListedTarget} ListedTarget */
/** @typedef {import('./targets.js').Target} Target */
/** @typedef {import('./targets.js').TargetWithHealth} TargetWithHealth */

const PAGE = 25;
const DOWN_SHOWN = 5;
const DOWN_LETTERS = 80;

export function TargetList() {
  const { query } = useStore(route);
  useStore(session);
  const host = query.get('host') ?? '';
  const page = query.get('page') ?? '';
  const list = useResource(
    `targets:${host}:${page}`,
    () => call('GET /v1/targets', { query: { host, health: true, limit: PAGE, page_token: page } }),
    { everyMs: READ_EVERY_MS },
  );
  const isEmpty = list.data?.items.length === 0 && !page;
  const isFirst = isEmpty && !host;
  useShortcuts('Monitoring', [
    ...(mayAct('member') ? [{ keys: 'c', text: 'Add a URL', act: () => focus('.add-target input') }] : []),
    ...(isFirst ? [] : [{ keys: '/', text: 'Filter by host', act: () => focus('.host-filter input') }]),
  ]);
  return html`<${Page} title="Monitoring">
    ${mayAct('member') ? html`<${AddTarget} known=${list.data?.items ?? []} />` : html`<p class="muted">Members and admins can add URLs. You can view their status.</p>`}
    <${DownNow} />
    ${!isFirst && html`<${HostFilter} key=${host} host=${host} error=${list.error?.field === 'host' ? list.error.message : undefined} />`}
    ${list.error?.field !== 'host' &&
    html`<${Loaded} of=${list} what="Couldn’t load the monitored URLs." waiting=${html`<${Skeleton} rows=${8} height=${56} />`}>
      ${(/** @type {import('./targets.js').TargetPage} */ { items, next_page_token: next }) => html`
        ${items.length > 0 && html`<${Card} class="flush"><${Rows} items=${items} /><//>`}
        ${isFirst && html`<${NothingYet} />`}
        ${isEmpty && host && html`<${Empty} title="No monitored URLs on this host" action=${html`<${Button} href=${href('monitoring')}>Show all<//>`} />`}
        <${Pages} page=${page} next=${next} />
      `}
    <//>`}
  <//>`;
}

/** @param {string} selector */
const focus = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus();

function NothingYet() {
  return html`<${Empty} title="No monitored URLs yet">
    Add one above, or check “Monitor the destination” when you create a link. URLs are checked several times a minute, and you’re notified when one is down.
  <//>`;
}

/** @param {{ known: ListedTarget[] }} props */
function AddTarget({ known }) {
  const form = useForm(
    { url: '' },
    async ({ url }) => {
      const target = /** @type {Target} */ (await call('POST /v1/targets', { body: { url: guessUrl(url) } }));
      invalidate('targets:');
      form.empty('url', url);
      const actions = [{ label: 'View', act: () => navigate(href(`monitoring/${target.id}`)) }];
      // One that is new has never been checked.
      const isNew = target.status === 'pending' && !known.some(({ id }) => id === target.id);
      toast(isNew ? `${target.host} is now monitored.` : 'This URL is already monitored.', { actions });
    },
    { check: ({ url }) => ({ url: guessUrl(url) ? undefined : 'Enter a URL, such as https://example.com/shop.' }) },
  );
  return html`<form class="stack tight add-target" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Field}
      label=${html`<span class="hidden">URL to monitor</span>`}
      type="text"
      inputmode="url"
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
      placeholder="Add a URL to monitor"
      after=${html`<${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Monitor<//>`}
      ...${form.field('url')}
    />
  </form>`;
}

/** What is down in the whole workspace, whatever page of the list is shown. */
function DownNow() {
  const down = /** @type {{ id: string, url: string, since: string }[]} */ (useOverview().data?.down ?? []);
  if (down.length === 0) return null;
  return html`<${Notice} tone="bad">
    <p><strong>${counted(down.length, 'URL is', 'URLs are')} down</strong></p>
    <ul>
      ${down.slice(0, DOWN_SHOWN).map(
        ({ id, url, since }) => html`<li key=${id} class="down-row">
          <a href=${href(`monitoring/${id}`)} title=${url}><bdi>${cutMiddle(withoutScheme(url), DOWN_LETTERS)}</bdi></a>
          <span class="small-print" title=${fullTime(since)}>${agoOf(since)}</span>
        </li>`,
      )}
      ${down.length > DOWN_SHOWN && html`<li class="down-row small-print">and ${number(down.length - DOWN_SHOWN)} more</li>`}
    </ul>
  <//>`;
}

/** @param {{ host: string, error?: string }} props */
function HostFilter({ host, error }) {
  const [text, setText] = useState(host);
  const apply = (/** @type {Event} */ event) => {
    event.preventDefault();
    setQuery({ host: hostIn(text), page: undefined });
  };
  if (host && !error) {
    return html`<div class="chips"><${Chip} isOn onRemove=${() => setQuery({ host: undefined, page: undefined })} removeLabel="Show all hosts">Host: <bdi>${host}</bdi><//></div>`;
  }
  return html`<form class="host-filter" role="search" onSubmit=${apply}>
    <${Field}
      label=${html`<span class="hidden">Filter by host</span>`}
      type="search"
      placeholder="Filter by host"
      value=${text}
      error=${error}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)}
      after=${html`<${Button} icon="filter" type="submit">Filter<//>`}
    />
  </form>`;
}

/** The host of what was typed, which may be a whole URL. @param {string} text */
const hostIn = (text) => text.trim().replace(/^https?:\/\//i, '').replace(/[/?#].*$/s, '').replace(/:\d+$/, '');

/** @param {{ items: TargetWithHealth[] }} props */
const Rows = ({ items }) => html`<ul class="targets" aria-label="Monitored URLs">
  ${items.map((target) => html`<${Row} key=${target.id} target=${target} />`)}
</ul>`;

/** @param {{ target: TargetWithHealth }} props */
function Row({ target }) {
  const { host, status, status_since: since, latest } = target;
  const path = withoutScheme(target.url).replace(/^[^/?#]*/, '');
  const { tone, text } = STATES[status];
  return html`<li class="target">
    <a class="target-link" href=${href(`monitoring/${target.id}`)} title=${target.url}>
      <bdi class="target-host">${host}</bdi><bdi class="target-path">${path}</bdi>
    </a>
    <span class="target-state"><${Status} tone=${tone}>${text}<//></span>
    <span class="target-latency small-print" title=${latest ? `${outcome(latest)}, ${fullTime(latest.checked_at)}` : undefined}>${latencyText(latest)}</span>
    <span class="target-since small-print" title=${fullTime(since)}>${status !== 'pending' && agoOf(since)}</span>
  </li>`;
}

/** @param {string} since */
const agoOf = (since) => (age(since) === 'now' ? 'just now' : `for ${age(since)}`);

/** @param {{ page: string, next: string | null }} props */
function Pages({ page, next }) {
  if (!page && !next) return null;
  const { query } = route.get();
  const to = (/** @type {string | undefined} */ token) => href('monitoring', { host: query.get('host') ?? undefined, page: token });
  return html`<nav class="row" aria-label="Pages of the list">
    ${page && html`<${Button} href=${to(undefined)}>First page<//>`}${next && html`<${Button} href=${to(next)}>Next page<//>`}
  </nav>`;
}
