// A chart as it is printed: drawn by lines instead of pixels, so that it is sharp and as wide as the paper. The printed page's styles show it.

import { html } from '../../vendor/preact.js';
import { shortNumber } from '../../core/format.js';
import { markName } from './moments.js';
import { dashOf, STEPS } from './options.js';
import { drawnSeries } from './running.js';

/** Its own unit is a pixel of a page of A4. */
const [WIDTH, HEIGHT] = [700, 210];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 20, 8, 20];
const MOST_LINES = 5;
const MOST_MARKS = 8;

/** @param {import('./chart.js').ChartProps} chart */
export function PrintedChart(chart) {
  const { times, unit, suffix = '' } = chart;
  const series = drawnSeries(chart);
  const most = Math.max(1, ...series.flatMap(({ values }) => values.filter((value) => value !== null)));
  const step = STEPS.find((one) => one * MOST_LINES >= most) ?? most;
  const top = step * Math.ceil(most / step);
  const x = (/** @type {number} */ at) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / Math.max(1, times.length - 1);
  const y = (/** @type {number} */ value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / top;
  const every = Math.ceil(times.length / MOST_MARKS);
  const marks = times.flatMap((_, at) => (at % every === 0 ? [at] : []));
  const span = times.length > every ? times[every] - times[0] : 0;
  const lines = Array.from({ length: top / step + 1 }, (_, at) => at * step);
  return html`<svg class="printed" hidden viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" focusable="false">
    ${lines.map((value) => html`<path class="printed-grid" d=${`M${LEFT} ${y(value)}H${WIDTH - RIGHT}`} /><text class="printed-end" x=${LEFT - 8} y=${y(value) + 4}>${shortNumber(value)}${suffix}</text>`)}
    ${marks.map((at) => html`<text class=${at === 0 ? '' : 'printed-middle'} x=${x(at)} y=${HEIGHT - 4}>${chart.names?.[at] ?? markName(times[at], unit, span)}</text>`)}
    ${series.map((one) => html`<${PrintedLine} one=${one} x=${x} y=${y} />`)}
  </svg>`;
}

/** @param {{ one: import('./running.js').DrawnSeries, x: (at: number) => number, y: (value: number) => number }} props */
function PrintedLine({ one: { look, values, isRunning }, x, y }) {
  const dash = isRunning ? dashOf('running') : dashOf(look);
  return pieces(values).map((piece) => {
    const points = piece.map(({ at, value }) => `${round(x(at))} ${round(y(value))}`);
    // A single value is no line.
    if (points.length === 1) return html`<circle class=${`printed-dot ${look}`} cx=${x(piece[0].at)} cy=${y(piece[0].value)} r="2.5" />`;
    const line = `M${points.join('L')}`;
    const area = `${line}V${y(0)}H${round(x(piece[0].at))}Z`;
    return html`${look === 'area' && html`<path class="printed-area" d=${area} />`}<path class=${`printed-line ${look}`} d=${line} stroke-dasharray=${dash.join(' ')} />`;
  });
}

/** What is known without a gap. @param {(number | null)[]} values */
function pieces(values) {
  /** @type {{ at: number, value: number }[][]} */
  const all = [];
  values.forEach((value, at) => {
    if (value === null) return;
    if (at === 0 || values[at - 1] === null) all.push([]);
    all[all.length - 1].push({ at, value });
  });
  return all;
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
