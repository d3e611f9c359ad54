import { html } from '../../vendor/preact.js';
import { route, setQuery } from '../../core/router.js';
import { TimeChart } from '../../parts/chart/chart.js';
import { ABOUT_HUMAN_CLICKS, UnitChoice } from '../../parts/times/times.js';
import { Card } from '../../ui/page.js';
import { wordsOfCovers } from './covers.js';
import { chartOf, timeIn } from './time.js';

/** Clicks over time. @param {import('./look.js').Known} props */
export function ClicksCard({ overview, view, past, isPastUnknown }) {
  const form = route.get().query.has('table') ? 'table' : 'chart';
  const unread = isPastUnknown && view.days.before ? `Clicks of ${view.days.before.name} aren’t available. ` : '';
  return html`<${Card} title="Clicks over time">
    <${TimeChart} controls=${html`<${UnitChoice} ...${view} />`} ...${chartOf(overview, view, past)} view=${form} onView=${showAs} />
    <p class="small-print">${wordsOfCovers(timeIn(overview, view, past).covers)} ${unread}Days are in UTC. ${ABOUT_HUMAN_CLICKS}</p>
  <//>`;
}

/** @param {string} form */
const showAs = (form) => setQuery({ table: form === 'table' ? '1' : '' });
