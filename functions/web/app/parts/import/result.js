// What has become of rows: how many of each kind, and those to look at.

import { html } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Notice, useCountdown } from '../../ui/states.js';
import { saveTable, tableOf } from '../download/download.js';
import { Table } from '../table/table.js';
import { isClick, MOST_TOLD } from './sending.js';

/** @typedef {import('./sending.js').Row} Row */
/** @typedef {import('./sending.js').Status} Status */
/** @typedef {import('./sending.js').Progress} Progress */

/** @type {Record<Status, string>} */
const STATUSES = {
  created: 'Imported',
  same: 'Already here',
  taken: 'Code taken',
  invalid: 'Invalid',
  unsupported: 'Unsupported code',
  no_link: 'Link not found',
  too_old: 'Too old',
  not_tried: 'Not sent',
};
/** @type {Record<Status, string>} */
const WOULD_BE = { ...STATUSES, created: 'Can be imported', no_link: 'Imported after its link' };
const STOPPED = 'Stopped. Imported links stay. To continue later, import the same file again.';
const SHOWN_TOLD = 50;
const FILE_HEAD = ['line', 'destination', 'short_code', 'status', 'reason', 'not_kept'];

/** @param {{ label: string, rows: Row[], isDry: boolean }} props */
export function ImportRows({ label, rows, isDry }) {
  const words = isDry ? WOULD_BE : STATUSES;
  const columns = [
    { label: 'Line', isNumber: true, cell: (/** @type {Row} */ row) => number(row.line) },
    { label: 'Destination', isHeader: true, cell: (/** @type {Row} */ row) => (isClick(row) ? html`<span class="muted">Click</span>` : html`<bdi>${row.original_url ?? '–'}</bdi>`) },
    { label: 'Short code', cell: (/** @type {Row} */ row) => row.short_code },
    { label: 'Result', cell: (/** @type {Row} */ row) => html`${words[row.status]}${remarkOf(row) && html`<p class="hint">${remarkOf(row)}</p>`}` },
  ];
  return html`<div class="import-rows"><${Table} isStacked label=${label} columns=${columns} rows=${rows} keyOf=${(/** @type {Row} */ row) => String(rows.indexOf(row))} /></div>`;
}

/** @param {Row} row */
function remarkOf({ reason, ignored }) {
  const text = [reason?.replace(/^url /, 'the destination '), ignored.length > 0 && `Not kept: ${ignored.join(', ')}`].filter(Boolean).join('. ');
  return text && `${text[0].toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');
}

/** @param {{ isDry: boolean, isOver: boolean, progress: Progress }} props */
export function ImportResult({ isDry, isOver, progress }) {
  const { links, clicks, told, toldCount, failedCount, share, isDone, isSecond } = progress;
  const wait = useCountdown(progress);
  const failed = failedCount > 0 ? ` ${counted(failedCount, 'row')} ${isDry ? 'can’t be' : failedCount === 1 ? 'wasn’t' : 'weren’t'} imported.` : '';
  const title = !isDone ? STOPPED : `${isDry ? 'Tested. Nothing was imported.' : 'Import finished.'}${failed}`;
  const save = () => saveTable(tableOf('import-results', FILE_HEAD, told.map((row) => [row.line, row.original_url ?? '', row.short_code ?? '', row.status, row.reason ?? '', row.ignored.join(' ')])));
  return html`<section class="stack import-result" tabindex="-1" aria-label="Result">
    ${isOver
      ? html`<${Notice} tone=${isDone && failedCount === 0 ? 'good' : 'warn'}><p><strong>${title}</strong></p><//>`
      : html`<div class="import-progress"><progress max="1" value=${share} aria-label=${isDry ? 'Test' : 'Import'}></progress><span class="muted">${Math.floor(100 * share)}%${isSecond && ' (clicks of new links)'}</span></div>`}
    <div role="status">
      <dl class="import-counts">
        <${Counts} label="Links" counts=${links} isDry=${isDry} />
        <${Counts} label="Clicks" counts=${clicks} isDry=${isDry} />
      </dl>
    </div>
    ${wait > 0 && !isOver && html`<p class="muted">Many rows at once. Continues in ${wait} s.</p>`}
    ${isOver && !isDry && Boolean(clicks.created) && html`<p class="hint">Imported clicks appear in statistics within minutes.</p>`}
    ${isOver && Boolean(clicks.too_old) && html`<p class="hint">Clicks that are too old for statistics stay in the imported clicks of their links.</p>`}
    ${isOver && toldCount > 0 && html`
      <div class="import-told"><h3>Rows to check</h3><${Button} class="compact" icon="save" onClick=${save}>Download ${counted(told.length, 'row')} as CSV<//></div>
      ${toldCount > MOST_TOLD && html`<p class="hint">These are the first ${number(MOST_TOLD)} of ${number(toldCount)}.</p>`}
      <${ImportRows} label="Rows to check" rows=${told.slice(0, SHOWN_TOLD)} isDry=${isDry} />
      ${told.length > SHOWN_TOLD && html`<p class="hint">Download the file to see all of them.</p>`}`}
  </section>`;
}

/** @param {{ label: string, counts: import('./sending.js').Counts, isDry: boolean }} props */
function Counts({ label, counts, isDry }) {
  const words = isDry ? WOULD_BE : STATUSES;
  const parts = Object.entries(words).flatMap(([status, word]) => {
    const count = counts[/** @type {Status} */ (status)];
    return count ? [`${number(count)} ${word[0].toLowerCase()}${word.slice(1)}`] : [];
  });
  return parts.length > 0 && html`<div><dt>${label}</dt><dd>${parts.join(' · ')}</dd></div>`;
}
