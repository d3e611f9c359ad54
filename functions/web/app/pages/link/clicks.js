// The latest clicks, one by one, as they come.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { counted, fullTime, moment } from '../../core/format.js';
import { audienceName, countryName, deviceName, siteOfReferer, sourceName, valueName } from '../../parts/panels/panels.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/facts.js';
import { Card } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Table } from '../../parts/table/table.js';
import { FEW_CLICKS, MOST_CLICKS } from './read.js';

/** @typedef {import('./read.js').Click} Click */

const MARKED_MS = 2_000;

/**
 * @param {{ resource: import('../../core/resource.js').Resource<Click[]>, onNews: () => void }} props `onNews` is called when a click has come
 */
export function LatestClicks({ resource, onNews }) {
  const [limit, setLimit] = useState(FEW_CLICKS);
  const fresh = useFresh(resource.data, onNews);
  const [opened, setOpened] = useState(/** @type {Click | null} */ (null));
  const actions = html`<span class="small-print">Live</span>`;
  return html`<${Card} title="Latest clicks" actions=${actions} class="clicks">
    <p class="hidden" role="status">${fresh.size > 0 ? counted(fresh.size, 'new click') : ''}</p>
    <${Loaded} of=${resource} what="Couldn’t load the clicks.">
      ${(/** @type {Click[]} */ clicks) => html`
        ${clicks.length === 0
          ? html`<p class="muted">No clicks match this period and these filters.</p>`
          : html`<${Table} label="Latest clicks" columns=${columnsOf(setOpened)} rows=${clicks.slice(0, limit)} keyOf=${(/** @type {Click} */ { id }) => id} classOf=${(/** @type {Click} */ { id }) => (fresh.has(id) ? 'fresh' : '')} />`}
        ${clicks.length > limit && html`<p class="more"><${Button} class="compact" onClick=${() => setLimit(MOST_CLICKS)}>Show ${clicks.length}<//></p>`}
      `}
    <//>
    ${opened && html`<${WholeClick} click=${opened} onClose=${() => setOpened(null)} />`}
  <//>`;
}

/** Which clicks have come since the last time, for a moment. @param {Click[] | undefined} clicks @param {() => void} onNews @returns {Set<string>} */
function useFresh(clicks, onNews) {
  const newest = useRef(/** @type {string | undefined} */ (undefined));
  const [fresh, setFresh] = useState(/** @type {Set<string>} */ (new Set()));

  useEffect(() => {
    if (!clicks) return;
    const known = newest.current;
    newest.current = clicks[0]?.id ?? '';
    if (known === undefined || known === newest.current) return;
    const at = clicks.findIndex(({ id }) => id === known);
    setFresh(new Set(clicks.slice(0, at < 0 ? clicks.length : at).map(({ id }) => id)));
    onNews();
  }, [clicks]);

  useEffect(() => {
    if (fresh.size === 0) return undefined;
    const timer = setTimeout(() => setFresh(new Set()), MARKED_MS);
    return () => clearTimeout(timer);
  }, [fresh]);

  return fresh;
}

/** @param {(click: Click) => void} open @returns {import('../../parts/table/table.js').Column<Click>[]} */
const columnsOf = (open) => [
  { label: 'Time', cell: ({ clicked_at: at }) => html`<time datetime=${at} title=${fullTime(at)}>${moment(at)}</time>`, isHeader: true },
  { label: 'Visitor', cell: ({ audience }) => html`<${Status} tone=${audience === 'human' ? 'good' : 'muted'}>${audienceName(audience)}<//>` },
  { label: 'Browser and device', cell: (click) => html`<${OpenClick} click=${click} open=${open} />` },
  { label: 'Location', cell: (click) => placeOf(click), isMinor: true },
  { label: 'Referrer', cell: ({ referer }) => (referer ? html`<${Referrer} referer=${referer} />` : html`<span class="muted">–</span>`), isMinor: true },
];

/** @param {{ click: Click, open: (click: Click) => void }} props */
function OpenClick({ click, open }) {
  return html`<button type="button" class="click-opener two-lines" title=${click.user_agent} aria-haspopup="dialog" onClick=${() => open(click)}>
    <span>${browserOf(click)}</span><span>${systemOf(click)}</span><span class="hidden">: details of the click, ${fullTime(click.clicked_at)}</span>
  </button>
  ${
    // A phone has no columns for these.
    (click.country || click.referer) && html`<p class="only-phone click-more">${click.country && placeOf(click)}${click.country && click.referer && ' · '}${click.referer && html`<${Referrer} referer=${click.referer} />`}</p>`
  }`;
}

/** @param {{ referer: string }} props */
const Referrer = ({ referer }) => html`<bdi class="referrer" title=${referer}>${siteOfReferer(referer)}</bdi>`;

/** All that is known of a click. @param {{ click: Click, onClose: () => void }} props */
function WholeClick({ click, onClose }) {
  const { clicked_at: at, audience, referer, user_agent: agent } = click;
  const rows = [
    { name: 'Time', value: html`<time datetime=${at}>${fullTime(at)}</time>` },
    { name: 'Visitor', value: html`<${Status} tone=${audience === 'human' ? 'good' : 'muted'}>${audienceName(audience)}<//>` },
    { name: 'Browser', value: `${valueName(click.browser)} ${click.browser_version}` },
    { name: 'System', value: systemOf(click) },
    { name: 'Location', value: placeOf(click) },
    { name: 'Referrer', value: referer ? html`<bdi>${referer}</bdi>` : html`<span class="muted">None</span>` },
    { name: 'Source', value: sourceName(click.source) },
    click.campaign && { name: 'Campaign', value: html`<bdi>${click.campaign}</bdi>` },
    { name: 'User agent', value: agent ? html`<bdi>${agent}</bdi>` : html`<span class="muted">None</span>` },
  ];
  return html`<${Dialog} title="Click" onClose=${onClose}><${Facts} rows=${rows} /><//>`;
}

/** @param {Click} click */
const browserOf = ({ browser, browser_version: version }) => `${valueName(browser)} ${version.split('.')[0]}`.trim();

/** @param {Click} click */
const systemOf = ({ os, device }) => [...new Set([valueName(os), deviceName(device)])].join(', ');

/** @param {Click} click */
const placeOf = ({ city, country }) => (country ? [city, countryName(country)].filter(Boolean).join(', ') : html`<span class="muted">–</span>`);
