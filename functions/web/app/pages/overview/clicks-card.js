import { html } from '../../vendor/preact.js';
import { route, setQuery } from '../../core/router.js';
import { TimeChart } from '../../parts/chart/chart.js';
import { ABOUT_HUMAN_CLICKS } from '../../parts/times/times.js';
import { Card } from '../../ui/page.js';
import { wordsOfCovers } from './covers.js';

/**
 * Clicks by day.
 * @param {{ chart: import('../../parts/chart/chart.js').ChartProps, covers: import('../../core/lists.js').CoveredLinks | null }} props
 */
export function ClicksCard({ chart, covers }) {
  const form = route.get().query.has('table') ? 'table' : 'chart';
  return html`<${Card} title="Clicks over time">
    <${TimeChart} ...${chart} view=${form} onView=${showAs} />
    <p class="small-print">${wordsOfCovers(covers)} Days are those of UTC. ${ABOUT_HUMAN_CLICKS}</p>
  <//>`;
}

/** @param {string} form */
const showAs = (form) => setQuery({ table: form === 'table' ? '1' : '' });
