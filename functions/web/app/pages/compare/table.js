// The numbers of each link, with what has changed.

import { html } from '../../vendor/preact.js';
import { number, shortNumber, withoutScheme } from '../../core/format.js';
import { href } from '../../core/router.js';
import { Swatch } from '../../parts/chart/swatch.js';
import { Button } from '../../ui/button.js';
import { Change } from '../../parts/chart/chart.js';
import { Card } from '../../ui/page.js';
import { Table } from '../../parts/table/table.js';

/** @typedef {import('./read.js').ComparedLink} ComparedLink */
/** @typedef {import('../../parts/times/period.js').Period} Period */

/** @param {{ links: ComparedLink[], period: Period, remove: (code: string) => void }} props */
export function ComparedTable({ links, period, remove }) {
  const figure = (/** @type {string} */ label, /** @type {'total_clicks' | 'human_clicks' | 'unique_visitors'} */ name) => ({
    label,
    isNumber: true,
    cell: (/** @type {ComparedLink} */ { answer, link }) => answer && link && html`<${Compared} label=${label} now=${answer[name]} before=${wasThere(link, answer) ? (answer.before?.[name] ?? null) : null} than=${period.before?.name ?? ''} />`,
  });
  /** @type {import('../../parts/table/table.js').Column<ComparedLink>[]} */
  const columns = [
    { label: 'Link', cell: (one) => html`<${Named} one=${one} />`, isHeader: true },
    figure('Clicks', 'total_clicks'),
    figure('Human clicks', 'human_clicks'),
    figure('Unique visitors', 'unique_visitors'),
    { label: 'Remove', isHidden: true, cell: ({ code }) => html`<${Button} kind="quiet" class="compact" icon="close" label=${`Remove ${code}`} onClick=${() => remove(code)} />` },
  ];
  return html`<${Card} class="flush compared"><${Table} label="Statistics by link" columns=${columns} rows=${links} keyOf=${(/** @type {ComparedLink} */ { code }) => code} /><//>
    ${period.before && html`<p class="small-print">▲ and ▼ are compared with ${period.before.name}.</p>`}`;
}

/** Whether a link was there before the time, so that there is something to compare with. @param {{ created_at: string }} link @param {{ from: string }} answer */
const wasThere = (link, answer) => Date.parse(link.created_at) < Date.parse(answer.from);

/** @param {{ one: ComparedLink }} props */
function Named({ one: { code, look, link, failure } }) {
  if (!link) return html`<div class="compared-link"><div class="compared-names"><bdi>${code}</bdi><span class="muted">${failure}</span></div></div>`;
  const text = link.title || withoutScheme(link.original_url);
  return html`<div class="compared-link">
    <${Swatch} look=${look} />
    <div class="compared-names">
      <a href=${href(`links/${code}`)} title=${link.short_url}><bdi>${code}</bdi></a>
      <span class="muted" dir="auto" title=${text}>${text}</span>
    </div>
  </div>`;
}

/** @param {{ label: string, now: number, before: number | null, than: string }} props */
function Compared({ label, now, before, than }) {
  return html`<div class="compared-figure">
    <span class="only-phone small-print" aria-hidden="true">${label}</span>
    <strong title=${number(now)}>${shortNumber(now)}</strong>
    <${Change} now=${now} before=${before} than=${than} isBrief />
  </div>`;
}
