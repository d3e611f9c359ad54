// The reports of a workspace or a tag that somebody gets by email.

import { html } from '../../vendor/preact.js';
import { call, readAll } from '../../core/api.js';
import { href, navigate } from '../../core/router.js';
import { invalidate, useResource } from '../../core/resource.js';
import { currentWorkspace, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icons.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Menu } from '../../ui/menu.js';
import { Loaded } from '../../ui/states.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** @typedef {'week' | 'month'} Every */
/** @typedef {{ id: string, every: Every, tag: string | null, created_at: string, not_mailed: 'mail_off' | 'unverified' | 'undeliverable' | null }} Report */

/** @type {Record<Every, { name: string, when: string }>} */
const TIMES = { week: { name: 'weekly', when: 'every Monday' }, month: { name: 'monthly', when: 'on the first of each month' } };
const EVERY = /** @type {Every[]} */ (Object.keys(TIMES));

/** Why none arrives. */
const LACKS = {
  mail_off: 'This Linklet doesn’t send email.',
  unverified: 'Confirm your email to get it.',
  undeliverable: 'An email to you bounced, so confirm your email to get it.',
};

/** @param {Every} every @param {string} tag empty for all links @param {import('../../ui/toast.js').ToastAction[]} [actions] */
async function begin(every, tag, actions) {
  try {
    /** @type {Report} */
    const { not_mailed } = await call('POST /api/workspace/reports', { body: tag ? { every, tag } : { every } });
    invalidate('reports');
    toast(not_mailed ? `Report added. ${LACKS[not_mailed]}` : `You’ll get this report ${TIMES[every].when}.`, { actions });
  } catch (error) {
    toastFailure('Couldn’t add the report.', error);
  }
}

const TO_LIST = { label: 'Email settings', act: () => navigate(href('account', { view: 'mail' })) };

/** On the page of all links, or of a tag. @param {{ tag?: string }} props */
export function ReportMenu({ tag = '' }) {
  const items = EVERY.map((every) => ({ label: `Email me a ${TIMES[every].name} report`, act: () => void begin(every, tag, [TO_LIST]) }));
  return html`<${Menu} class="button" label="More" items=${items}><${Icon} name="more" /><//>`;
}

/** Those that the person gets, of this workspace. */
export function Reports() {
  useStore(session);
  const resource = useResource('reports', () => readAll('reports', 'GET /api/workspace/reports'));
  return html`<${Loaded} of=${resource} what="Couldn’t load your reports.">
    ${(/** @type {{ reports: Report[] }} */ { reports }) => html`<${ReportList} reports=${reports} resource=${resource} />`}
  <//>`;
}

/** @param {{ reports: Report[], resource: import('../../core/resource.js').Resource<{ reports: Report[] }> }} props */
function ReportList({ reports, resource }) {
  const { part, focusLater } = useLaterFocus();

  /** @param {Report} ended */
  async function stop(ended) {
    resource.change((list) => ({ ...list, reports: list.reports.filter(({ id }) => id !== ended.id) }));
    // The button that was pressed is gone.
    focusLater('.button');
    try {
      await call('DELETE /api/workspace/reports/{report_id}', { path: { report_id: ended.id } });
      toast('Report stopped.');
    } catch (error) {
      toastFailure('Couldn’t stop the report.', error);
      await resource.reload();
    }
  }

  const missing = EVERY.filter((every) => !reports.some((report) => report.every === every && !report.tag));
  return html`<div class="stack" ref=${part}>
    <p class="hint">Clicks and top links of <bdi>${currentWorkspace()?.name}</bdi>, compared with the period before. For a report about a tag, open the tag’s page.</p>
    ${reports.length > 0 &&
    html`<ul class="lines" aria-label="Reports">
      ${reports.map((report) => html`<${Line} key=${report.id} report=${report} onStop=${() => stop(report)} />`)}
    </ul>`}
    ${missing.length > 0 && html`<p class="actions">${missing.map((every) => html`<${Button} key=${every} icon="plus" onClick=${() => begin(every, '')}>Add ${TIMES[every].name} report<//>`)}</p>`}
  </div>`;
}

/** @param {{ report: Report, onStop: () => void }} props */
function Line({ report: { every, tag, not_mailed }, onStop }) {
  const { name, when } = TIMES[every];
  return html`<li>
    <span class="line-text">
      <bdi class="line-title">${tag ?? 'All links'}</bdi>
      <span class="small-print">${tag && 'Tag · '}Emailed ${when}${not_mailed && ` · ${LACKS[not_mailed]}`}</span>
    </span>
    <${Button} class="compact" onClick=${onStop}>Stop<span class="hidden"> (${name}, ${tag ?? 'all links'})</span><//>
  </li>`;
}
