// The day or hour that isn't over: its numbers still grow, so lines lead to it dashed.

/** @typedef {import('./chart.js').Series} Series */
/** A line as it is drawn. @typedef {Series & { isRunning?: boolean }} DrawnSeries */

export const SO_FAR = 'so far';

/** The time before is over. @param {number | undefined} running */
const runsIn = (running) => (/** @type {Series} */ { look, values }) => running !== undefined && look !== 'before' && typeof values[running] === 'number';

/** Whether a chart has numbers that still grow. @param {Pick<import('./chart.js').ChartProps, 'series' | 'running'>} chart */
export const hasRunning = ({ series, running }) => series.some(runsIn(running));

/**
 * The lines up to the running time, and behind them what leads to it.
 * @param {Pick<import('./chart.js').ChartProps, 'series' | 'running'>} chart
 * @returns {DrawnSeries[]}
 */
export function drawnSeries({ series, running }) {
  const runs = runsIn(running);
  const only = (/** @type {Series} */ { values }, /** @type {(at: number) => boolean} */ isShown) => values.map((value, at) => (isShown(at) ? value : null));
  const whole = series.map((one) => (runs(one) ? { ...one, values: only(one, (at) => at !== running) } : one));
  const ends = series.filter(runs).map((one) => ({ ...one, isRunning: true, values: only(one, (at) => at === running || at + 1 === running) }));
  return [...whole, ...ends];
}
