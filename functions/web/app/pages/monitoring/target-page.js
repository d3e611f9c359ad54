import { html, useState } from '../../vendor/preact.js';
import { safeUrl } from '../../core/address.js';
import { call } from '../../core/api.js';
import { ago, counted, cutMiddle, day, fullTime, momentInText, number, percent, withoutScheme } from '../../core/format.js';
import { invalidate, useResource } from '../../core/resource.js';
import { href, navigate } from '../../core/router.js';
import { mayAct } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { ask } from '../../ui/dialog.js';
import { Facts } from '../../ui/facts.js';
import { Figure, Figures } from '../../parts/chart/chart.js';
import { isGood, latencyText } from '../../parts/checks/checks.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Loaded, Skeleton } from '../../ui/states.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { Latency } from './latency.js';
import { Results } from './results.js';
import { outcome, READ_EVERY_MS, readTarget, STATES } from './targets.js';
import { WatchedBy } from './watched-by.js';

/** @typedef {import('./targets.js').Target} Target */
/** @typedef {import('./targets.js').CheckResult} CheckResult */

const RESULTS = 100;

/** @param {{ id: string }} props */
export function TargetPage({ id }) {
  const target = useResource(`target:${id}`, () => readTarget(id), { everyMs: READ_EVERY_MS });
  const results = useResource(
    `results:${id}`,
    () => call('GET /v1/targets/{id}/results', { path: { id }, query: { limit: RESULTS } }),
    { everyMs: READ_EVERY_MS },
  );
  const isUnknown = target.error?.status === 404 || target.error?.status === 403;
  if (isUnknown) return html`<${NotHere} />`;
  const name = target.data ? withoutScheme(target.data.url) : 'Monitored URL';
  const actions = target.data && mayAct('member') && html`<${Button} icon="trash" onClick=${() => stop(/** @type {Target} */ (target.data))}>Stop monitoring<//>`;
  return html`<${Page} title=${cutMiddle(name, 60)} heading=${html`<bdi class="target-name" title=${target.data?.url}>${cutMiddle(name, 90)}</bdi>`} actions=${actions}>
    <${Loaded} of=${target} what="Couldn’t load this URL." waiting=${html`<${Skeleton} rows=${3} height=${112} />`}>
      ${(/** @type {Target} */ known) => html`
        <${Numbers} target=${known} results=${results.data?.items} />
        <${Checks} results=${results} />
        <${About} target=${known} />
      `}
    <//>
  <//>`;
}

function NotHere() {
  return html`<${Page} title="Not monitored">
    <${Empty} title="This URL isn’t monitored" action=${html`<${Button} href=${href('monitoring')}>View monitored URLs<//>`}>
      Someone may have stopped monitoring it, or it belongs to another workspace.
    <//>
  <//>`;
}

/** @param {{ target: Target, results?: CheckResult[] }} props */
function Numbers({ target, results }) {
  const { text } = STATES[target.status];
  const latest = results?.[0];
  const good = results?.filter(isGood) ?? [];
  const typical = median(good.map((result) => result.latency_ms));
  const checks = results && `${number(good.length)} of ${counted(results.length, 'check')}`;
  const none = results ? '–' : undefined;
  return html`<${Figures} label="Statistics">
    <${Figure} label="Status" value=${text} isText title=${fullTime(target.status_since)} note=${`since ${momentInText(target.status_since)}`} />
    <${Figure} label="Last check" value=${latest ? outcome(latest) : none} isText title=${latest && fullTime(latest.checked_at)} note=${latest && [ago(latest.checked_at), latencyText(latest)].filter(Boolean).join(', ')} />
    <${Figure} label="Median latency" hint="Half of the responses were faster." value=${typical === undefined ? none : `${number(typical)} ms`} isText note=${results?.length ? `in ${counted(results.length, 'check')}` : ''} />
    <${Figure} label="Uptime" value=${results?.length ? percent(good.length / results.length) : none} isText note=${checks} />
  <//>`;
}

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** @param {{ results: import('../../core/resource.js').Resource<{ items: CheckResult[] }> }} props */
function Checks({ results }) {
  const [isAll, setAll] = useState(false);
  return html`<${Loaded} of=${results} what="Couldn’t load the results." waiting=${html`<${Skeleton} rows=${1} height=${240} />`}>
    ${(/** @type {{ items: CheckResult[] }} */ { items }) =>
      items.length === 0
        ? html`<${Card}><${Empty} title="Not checked yet">The first check comes within a minute.<//><//>`
        : html`<${Latency} results=${items} />
            <${Card} title="Results" class="results"><${Results} results=${items} isAll=${isAll} showAll=${() => setAll(true)} /><//>`}
  <//>`;
}

/** @param {{ target: Target }} props */
function About({ target }) {
  const url = safeUrl(target.url);
  const address = html`<bdi>${target.url}</bdi>`;
  const rows = [
    { name: 'URL', value: url ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${address}</a>` : address },
    target.canonical_url !== target.url && { name: 'Normalized URL', value: html`<bdi>${target.canonical_url}</bdi>` },
    { name: 'Monitored since', value: day(target.created_at) },
    { name: 'Links with monitoring', value: html`<${WatchedBy} target=${target} />` },
  ];
  return html`<${Card} title="About"><${Facts} rows=${rows} /><//>`;
}

/** @param {Target} target */
async function stop(target) {
  const question = {
    title: 'Stop monitoring?',
    text: html`<bdi>${cutMiddle(target.url, 120)}</bdi> will no longer be checked, and nobody is notified when it’s down. Results from the last 30 days are lost.`,
    action: 'Stop monitoring',
    isDanger: true,
  };
  if (!(await ask(question))) return;
  try {
    await call('DELETE /v1/targets/{id}', { path: { id: target.id } });
    invalidate('targets:');
    navigate(href('monitoring'));
    toast(`${target.host} is no longer monitored.`);
  } catch (error) {
    toastFailure('Couldn’t stop monitoring.', explained(error));
  }
}

/** @param {unknown} error */
function explained(error) {
  const { code } = /** @type {import('../../core/api.js').ApiError} */ (error);
  if (code === 'forbidden' || code === 'role_too_low') return new Error('Only an admin or the person who added it can do this.');
  return error;
}
