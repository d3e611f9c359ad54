import { html } from '../../vendor/preact.js';
import { folded } from '../../core/folding.js';
import { counted, number, shortNumber } from '../../core/format.js';
import { href } from '../../core/router.js';
import { mayAct } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { Icon } from '../../ui/icons.js';
import { Card } from '../../ui/page.js';
import { Table } from '../../parts/table/table.js';
import { underWay } from './arranged.js';
import { deleteTag } from './changes.js';

/** @typedef {import('./arranged.js').ShownTag} ShownTag */

/** Shown until it is counted. */
const UNKNOWN = html`<span class="muted" title="Counted within a minute.">…</span>`;

/** @param {{ rows: ShownTag[], jobs: import('../../parts/jobs/words.js').Job[], onRename: (tag: ShownTag) => void }} props */
export function TagTable({ rows, jobs, onRename }) {
  const columns = [
    { label: 'Tag', isHeader: true, cell: (/** @type {ShownTag} */ row) => html`<${TagName} row=${row} state=${underWay(jobs, row.tag)} />` },
    { label: 'Links', isNumber: true, isMinor: true, cell: (/** @type {ShownTag} */ row) => html`<${LinksOfTag} row=${row} />` },
    { label: 'Clicks', isNumber: true, isMinor: true, cell: (/** @type {ShownTag} */ { total_clicks: clicks }) => (clicks === undefined ? UNKNOWN : html`<span title=${number(clicks)}>${shortNumber(clicks)}</span>`) },
    ...(mayAct('member') ? [{ label: 'Actions', isHidden: true, isNumber: true, cell: (/** @type {ShownTag} */ row) => html`<${TagActions} row=${row} onRename=${onRename} />` }] : []),
  ];
  return html`<${Card} class="flush tag-table"><${Table} isStacked label="Tags" columns=${columns} rows=${rows} keyOf=${(/** @type {ShownTag} */ { tag }) => folded(tag)} /><//>`;
}

/** @param {{ row: ShownTag, state: string | undefined }} props */
function TagName({ row, state }) {
  const { tag, links, total_clicks: clicks } = row;
  const numbers = [links !== undefined && html`<${LinksOfTag} row=${row} isSentence />`, clicks !== undefined && counted(clicks, 'click')].filter(Boolean);
  return html`<span class="row"><${Icon} name="tag" /><a class="line-title" href=${href(['tags', tag])} title=${`Statistics for the tag ${tag}`} aria-label=${tag}><bdi>${tag}</bdi></a>${state && html`<${Status} tone="muted">${state}<//>`}</span>
    <span class="small-print only-phone">${numbers.map((one, at) => html`${at > 0 && ' · '}${one}`)}</span>`;
}

/** How many links have it: the way to them. @param {{ row: ShownTag, isSentence?: boolean }} props */
function LinksOfTag({ row: { tag, links }, isSentence = false }) {
  if (links === undefined) return UNKNOWN;
  const words = counted(links, 'link');
  return html`<a href=${href('links', { tag })} aria-label=${`${words} with the tag ${tag}`}>${isSentence ? words : number(links)}</a>`;
}

/** @param {{ row: ShownTag, onRename: (tag: ShownTag) => void }} props */
const TagActions = ({ row, onRename }) => html`<span class="decision">
  <${Button} class="compact" kind="quiet" icon="edit" label=${`Rename ${row.tag}`} onClick=${() => onRename(row)} />
  <${Button} class="compact" kind="quiet" icon="trash" label=${`Delete ${row.tag}`} onClick=${() => void deleteTag(row)} />
</span>`;
