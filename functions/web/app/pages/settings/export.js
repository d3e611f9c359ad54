// What the workspace has, as files that can be taken along.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { mayAct } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Lazy } from '../../ui/lazy.js';
import { Card } from '../../ui/page.js';

/** @typedef {import('../../parts/export/reading.js').Query} Query */
/** @typedef {import('../../parts/export/reading.js').Wanted} Wanted */

const AS_IT_IS = { asText: true, withNext: true };
/** @type {(Pick<Wanted, 'name' | 'list' | 'read'> & { what: string, formats: Wanted['format'][], role?: 'admin' })[]} */
const KINDS = [
  { name: 'Links', list: 'links', formats: ['csv', 'json'], what: 'With tags, rules, and all settings, but without passwords.', read: (query) => call('GET /api/export/links', { query, ...AS_IT_IS }) },
  { name: 'Clicks', list: 'clicks', formats: ['csv', 'json'], what: 'Single clicks of the last 396 days.', read: (query) => call('GET /api/export/clicks', { query, ...AS_IT_IS }) },
  { name: 'Daily clicks', list: 'days', formats: ['csv', 'json'], what: 'Totals of each link and day, in UTC.', read: (query) => call('GET /api/export/daily', { query, ...AS_IT_IS }) },
  { name: 'Workspace', list: 'targets', formats: ['json'], what: 'Settings, members, tags, and monitored URLs.', read: (query) => call('GET /api/export/workspace', { query: withoutFormat(query), ...AS_IT_IS }) },
  { name: 'Activity', list: 'entries', formats: ['csv', 'json'], what: 'Who has done what.', role: 'admin', read: (query) => call('GET /api/export/audit', { query, ...AS_IT_IS }) },
];

/** The workspace has no tables. @param {Query} query */
const withoutFormat = (query) => (query instanceof URLSearchParams ? query : {});

export function Export() {
  const [wanted, setWanted] = useState(/** @type {Wanted | undefined} */ (undefined));
  const end = () => setWanted(undefined);
  return html`<${Card} title="Export">
    <p class="muted">Everything here is yours to take along. Another Linklet workspace can import the links and clicks.</p>
    <ul class="lines">
      ${KINDS.filter(({ role }) => !role || mayAct(role)).map(
        ({ name, what, formats, ...kind }) => html`<li key=${name}>
          <span class="line-text"><span class="line-title">${name}</span><span class="small-print">${what}</span></span>
          ${wanted?.name === name
            ? html`<${Lazy} load=${() => import('../../parts/export/export.js')} name="ExportFile" wanted=${wanted} onFailure=${end} onEnd=${end} />`
            : html`<span class="row">${formats.map((format) => html`<${Button} class="compact" icon="save" disabled=${Boolean(wanted)} onClick=${() => setWanted({ name, format, ...kind })}>${format.toUpperCase()}<span class="hidden"> of ${name.toLowerCase()}</span><//>`)}</span>`}
        </li>`,
      )}
    </ul>
  <//>`;
}
