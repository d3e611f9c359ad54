// The workspace at a glance.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { counted, fullTime, moment, number, shortNumber, withoutScheme } from '../../core/format.js';
import { useOverview } from '../../core/lists.js';
import { href } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { prepareCharts } from '../../parts/chart/chart.js';
import { CopyText } from '../../ui/copy.js';
import { Figure, Figures } from '../../ui/figures.js';
import { Lazy } from '../../ui/lazy.js';
import { Page } from '../../ui/page.js';
import { Loaded, Notice, Skeleton } from '../../ui/states.js';
import { FirstRun } from '../links/first-run.js';
import { QuickCreate } from '../links/quick-create.js';
import { emptyField } from '../links/quick-queue.js';
import { ClicksCard } from './clicks-card.js';
import { Down } from './down.js';
import { TopLinks } from './top-links.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../core/lists.js').Overview} Overview */

/** The API adds it up once a minute at most. */
const EVERY_MS = 60_000;

const loadForm = () => import('../../parts/link-form/link-form.js');

export function OverviewPage() {
  useStore(session);
  const overview = useOverview({ everyMs: EVERY_MS });
  useEffect(prepareCharts, []);
  const asOf = overview.data?.as_of;
  const actions = asOf && html`<span class="small-print" title=${fullTime(asOf)}>As of ${moment(asOf)}</span>`;
  return html`<${Page} title="Overview" actions=${actions}>
    ${mayAct('member') && html`<${Create} />`}
    <${Loaded} of=${overview} what="The overview can’t be shown." waiting=${html`<${Waiting} />`}>
      ${(/** @type {Overview} */ data) => (data.links.total + data.links.archived === 0 && mayAct('member') ? html`<${FirstRun} />` : html`<${Numbers} overview=${data} />`)}
    <//>
  <//>`;
}

/** The field of the home page; here, the link that it has made stands below it. */
function Create() {
  const [form, setForm] = useState(/** @type {{ link?: Link, url?: string, template?: Link } | null} */ (null));
  const [made, setMade] = useState(/** @type {Link | null} */ (null));
  const close = () => setForm(null);
  const onSaved = (/** @type {Link} */ link) => {
    setMade(link);
    emptyField(form?.url ?? '');
  };
  return html`<${QuickCreate}
      onLink=${setMade}
      onUndone=${() => setMade(null)}
      edit=${(/** @type {Link} */ link) => setForm({ link })}
      openOptions=${(/** @type {string} */ url) => setForm({ url })}
      prepareOptions=${() => void loadForm().catch(() => {})}
    />
    ${made && html`<${Made} link=${made} />`}
    ${form &&
    html`<${Lazy}
      load=${loadForm}
      name="LinkForm"
      key=${form.link?.short_code ?? 'new'}
      ...${form}
      onSaved=${onSaved}
      onFailure=${close}
      onClose=${close}
      onCopy=${(/** @type {Link} */ template) => setForm({ template })}
    />`}`;
}

/** @param {{ link: Link }} props */
function Made({ link }) {
  const short = withoutScheme(link.short_url);
  return html`<p class="made">
    <${CopyText} text=${link.short_url} label=${`Copy ${short}`}><bdi>${short}</bdi><//>
    <span class="muted">leads to <bdi>${withoutScheme(link.original_url)}</bdi></span>
    <a href=${href(`links/${link.short_code}`)}>Numbers</a>
  </p>`;
}

function Waiting() {
  return html`<${Figures} label="Numbers">${['Clicks today', 'Last 7 days', 'Last 30 days', 'Links'].map((label) => html`<${Figure} label=${label} />`)}<//>
    <${Skeleton} height=${360} />`;
}

/** @type {Record<string, string>} */
const PARTS = { links: 'links', clicks: 'clicks', down: 'monitored addresses' };

/** Links that don’t work as they are, or that lists leave out. @type {[keyof Overview['links'], string][]} */
const OTHER_LINKS = [['inactive', 'switched off'], ['scheduled', 'scheduled'], ['exhausted', 'used up'], ['expired', 'expired'], ['archived', 'archived']];

/** @param {{ overview: Overview }} props */
function Numbers({ overview }) {
  const { links, clicks, incomplete = [] } = overview;
  const others = OTHER_LINKS.flatMap(([name, word]) => (links[name] ? `${number(links[name])} ${word}` : []));
  return html`${incomplete.length > 0 &&
    html`<${Notice} tone="warn">This workspace is so large that only a part of its ${incomplete.map((part) => PARTS[part] ?? part).join(' and ')} was counted. The numbers are too small.<//>`}
    <${Figures} label="Numbers">
      <${Today} counts=${clicks.today} />
      <${ClicksFigure} label="Last 7 days" than="7 days" counts=${clicks.last_7_days} />
      <${ClicksFigure} label="Last 30 days" than="30 days" counts=${clicks.last_30_days} />
      <${Figure} label="Links" value=${shortNumber(links.total)} title=${number(links.total)} note=${[`${number(links.active)} active`, ...others].join(', ')} />
    <//>
    <${ClicksCard} days=${overview.days} />
    <div class="overview-lists">
      <${TopLinks} links=${overview.top_links} />
      <${Down} targets=${overview.down} />
    </div>`;
}

/** A day that isn't over can't be compared with a whole one. @param {{ counts: import('../../core/lists.js').ComparedClicks }} props */
function Today({ counts }) {
  const note = `${counted(counts.people, 'person', 'people')}, yesterday ${counted(counts.clicks_before, 'click')}`;
  return html`<${Figure} label="Clicks today" value=${shortNumber(counts.clicks)} title=${number(counts.clicks)} note=${note} />`;
}

/** @param {{ label: string, than: string, counts: import('../../core/lists.js').ComparedClicks }} props */
function ClicksFigure({ label, than, counts }) {
  const change = { now: counts.clicks, before: counts.clicks_before };
  return html`<${Figure} label=${label} value=${shortNumber(counts.clicks)} title=${number(counts.clicks)} change=${change} than=${than} note=${counted(counts.people, 'person', 'people')} />`;
}
