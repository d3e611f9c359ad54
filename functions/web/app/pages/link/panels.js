// What the clicks had in common, as bars. Each panel shows all values of its kind, also while some of them are asked for.

import { html } from '../../vendor/preact.js';
import { useResource } from '../../core/resource.js';
import { setQuery } from '../../core/router.js';
import { KINDS, Panel, rowsOf } from '../../parts/panels/panels.js';
import { useLatest } from '../../parts/times/times.js';
import { filterWithout, toggled } from './asked.js';
import { keyOf, readView } from './read.js';

/** @typedef {import('../../parts/panels/kinds.js').Kind} Kind */
/** @typedef {import('./read.js').View} View */
/** @typedef {import('../../parts/times/answer.js').Answer} Answer */

/** What was read without the values of a kind stays as it is while one chooses among them. */
const FRESH_MS = 60_000;

/** @param {{ view: View, answer: Answer }} props */
export function Panels({ view, answer }) {
  const shown = KINDS.filter(({ name }) => name !== 'destination' || answer.destinations.length > 0 || view.filter[name]);
  return html`<div class="panels">${shown.map((kind) => html`<${KindPanel} key=${kind.name} kind=${kind} view=${view} answer=${answer} />`)}</div>`;
}

/** @param {{ kind: Kind, view: View, answer: Answer }} props */
function KindPanel({ kind, view, answer }) {
  const chosen = view.filter[kind.name] ?? [];
  // Without what is asked of its own kind, so that another value can be had besides.
  const whole = { ...view, filter: filterWithout(view.filter, kind.name) };
  const others = useResource(chosen.length > 0 ? keyOf(whole) : null, () => readView(whole), { freshMs: FRESH_MS });
  const shown = useLatest(chosen.length > 0 ? others.data : answer) ?? answer;
  const choose = (/** @type {string} */ value) => setQuery({ [kind.name]: toggled(view.filter, kind.name, value) }, { replace: false });
  return html`<${Panel} kind=${kind} rows=${rowsOf(kind, shown, chosen)} total=${shown.total_clicks} choose=${choose} />`;
}
