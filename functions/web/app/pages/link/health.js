// How the target of a link does that watches it.

import { html } from '../../vendor/preact.js';
import { fullTime, moment } from '../../core/format.js';
import { href } from '../../core/router.js';
import { latencyText } from '../../parts/checks/checks.js';
import { Status } from '../../ui/chips.js';
import { Card } from '../../ui/page.js';

/** @typedef {{ status: 'up' | 'down' | 'pending' | 'unknown', checked_at: string | null, status_code: number | null, latency_ms: number | null }} Health */

/** @type {Record<Health['status'], { tone: 'good' | 'bad' | 'warn' | 'muted', text: string }>} */
const STATES = {
  up: { tone: 'good', text: 'Up' },
  down: { tone: 'bad', text: 'Down' },
  pending: { tone: 'muted', text: 'Not checked yet' },
  unknown: { tone: 'warn', text: 'Unknown' },
};

/** @param {{ health: Health, target?: string }} props `target` is its id */
export function HealthCard({ health, target }) {
  const { tone, text } = STATES[health.status];
  const actions = html`<a href=${href(target ? `monitoring/${target}` : 'monitoring')}>Monitoring</a>`;
  return html`<${Card} title="Destination health" actions=${actions} class="health">
    <dl class="health-facts">
      <div><dt>Status</dt><dd><${Status} tone=${tone}>${text}<//></dd></div>
      <div><dt>Last check</dt><dd>${health.checked_at ? html`<time datetime=${health.checked_at} title=${fullTime(health.checked_at)}>${moment(health.checked_at)}</time>` : '–'}</dd></div>
      <div><dt>Latency</dt><dd>${latencyText(health) || '–'}</dd></div>
      <div><dt>Response</dt><dd>${health.status_code ?? (health.checked_at ? 'none' : '–')}</dd></div>
    </dl>
  <//>`;
}
