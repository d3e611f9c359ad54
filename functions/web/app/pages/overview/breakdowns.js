// What the clicks of many links have in common.

import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useResource } from '../../core/resource.js';
import { KINDS, Panel, rowsOf } from '../../parts/panels/panels.js';
import { AudienceChoice, useLatest } from '../../parts/times/times.js';
import { AUDIENCES } from '../../parts/times/audience.js';
import { Card } from '../../ui/page.js';
import { Failure, Skeleton } from '../../ui/states.js';
import { wordsOfCovers } from './covers.js';
import { useSeen } from './seen.js';
import { timeQueryOf } from './time.js';

/** @typedef {import('./time.js').View} View */
/** @typedef {import('../../parts/panels/kinds.js').Breakdowns & { covers: import('../../core/lists.js').CoveredLinks | null, incomplete: string[] }} LinksBreakdowns */

/** Each question takes much reading, and the API keeps its answer for about as long. */
const FRESH_MS = 60_000;
const PANEL_HEIGHT = 240;

/** A link's page has destinations, too; those of several links have nothing in common. */
export const KINDS_OF_LINKS = KINDS.filter(({ name }) => name !== 'destination');

/** @type {Record<View['audience'], string>} */
const NOBODY = {
  people: 'No human clicks in this period.',
  bots: 'No bots or link previews in this period.',
  all: 'No clicks in this period.',
};

/** @param {View} view @returns {Promise<LinksBreakdowns>} */
export const readBreakdowns = (view) => call('GET /api/overview/breakdowns', { query: { ...timeQueryOf(view), audience: AUDIENCES[view.audience] } });

/** @param {View} view @param {boolean} isWanted */
export function useBreakdowns(view, isWanted) {
  const key = `breakdowns:${JSON.stringify([timeQueryOf(view), view.audience])}`;
  return useResource(isWanted ? key : null, () => readBreakdowns(view), { freshMs: FRESH_MS });
}

/** @param {{ view: View }} props */
export function Visitors({ view }) {
  const { part, isSeen } = useSeen();
  const breakdowns = useBreakdowns(view, isSeen);
  const { data, error, reload } = breakdowns;
  const known = useLatest(data && { answer: data, audience: view.audience });
  return html`<section class="visitors stack" ref=${part}>
    <header class="visitors-head"><h2>Visitors</h2><${AudienceChoice} audience=${view.audience} /></header>
    <p class="small-print" role="status">${data && noteOf(data)}</p>
    ${error && html`<${Failure} what="Couldn’t load the visitors." error=${error} retry=${reload} />`}
    ${known
      ? html`<div class=${data ? '' : 'waiting'}><${Panels} answer=${known.answer} audience=${known.audience} /></div>`
      : !error && html`<div class="panels unseen">${isSeen && [1, 2, 3].map(() => html`<${Skeleton} height=${PANEL_HEIGHT} />`)}</div>`}
  </section>`;
}

/** @param {LinksBreakdowns} answer */
const noteOf = ({ covers, incomplete }) => [wordsOfCovers(covers), incomplete.length > 0 ? 'Some links couldn’t be included.' : ''].filter(Boolean).join(' ');

/** @param {{ answer: LinksBreakdowns, audience: View['audience'] }} props */
function Panels({ answer, audience }) {
  if (answer.total_clicks === 0) return html`<${Card}><p class="muted">${NOBODY[audience]}</p><//>`;
  return html`<div class="panels">${KINDS_OF_LINKS.map((kind) => html`<${Panel} key=${kind.name} kind=${kind} rows=${rowsOf(kind, answer)} total=${answer.total_clicks} />`)}</div>`;
}
