// How the target of a link does that watches it.

import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { fullTime, moment, number } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { href } from '../../core/router.js';
import { Status } from '../../ui/chips.js';
import { Card } from '../../ui/page.js';

/** @typedef {{ status: 'up' | 'down' | 'pending' | 'unknown', checked_at: string | null, status_code: number | null, latency_ms: number | null }} Health */

/** @type {Record<Health['status'], { tone: 'good' | 'bad' | 'warn' | 'muted', text: string }>} */
const STATES = {
  up: { tone: 'good', text: 'Up' },
  down: { tone: 'bad', text: 'Down' },
  pending: { tone: 'muted', text: 'Not checked yet' },
  unknown: { tone: 'warn', text: 'Can’t be read' },
};

/** @param {{ health: Health, url: string }} props */
export function HealthCard({ health, url }) {
  const { tone, text } = STATES[health.status];
  const target = useTarget(url);
  const actions = html`<a href=${href(target ? `monitoring/${target.id}` : 'monitoring')}>Monitoring</a>`;
  return html`<${Card} title="Health of the target" actions=${actions} class="health">
    <dl class="health-facts">
      <div><dt>Status</dt><dd><${Status} tone=${tone}>${text}<//></dd></div>
      <div><dt>Last check</dt><dd>${health.checked_at ? html`<time datetime=${health.checked_at} title=${fullTime(health.checked_at)}>${moment(health.checked_at)}</time>` : '–'}</dd></div>
      <div><dt>Latency</dt><dd>${health.latency_ms === null ? '–' : `${number(health.latency_ms)} ms`}</dd></div>
      <div><dt>Answer</dt><dd>${health.status_code ?? (health.checked_at ? 'none' : '–')}</dd></div>
    </dl>
  <//>`;
}

/** The target that the link watches, if it is among the first of its host. @param {string} url */
function useTarget(url) {
  const { host } = new URL(url);
  const name = host.replace(/:\d+$/, '');
  const { data } = useResource(`targets:${name}`, () => call('GET /v1/targets', { query: { host: name, limit: 100 } }));
  const wanted = comparable(url);
  return data?.items.find((/** @type {any} */ target) => target.url === url || comparable(target.canonical_url) === wanted);
}

/** An address without what makes no difference. @param {string} url */
function comparable(url) {
  const parsed = new URL(url);
  parsed.hash = '';
  parsed.pathname = parsed.pathname.replace(/\/+$/, '');
  return parsed.href;
}
