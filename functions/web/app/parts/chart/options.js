// What uPlot is told: axes, lines and colours.

import { shortNumber } from '../../core/format.js';
import { rem } from '../../core/rem.js';
import { DAY_SECONDS, isOfDays, markName } from './moments.js';

/** @typedef {import('./chart.js').Series} Series */
/** @typedef {import('./running.js').DrawnSeries} DrawnSeries */
/** The look of a line, or of what isn't over. @typedef {Series['look'] | 'running'} Look */

const FONT = `${rem(0.75)}px system-ui, sans-serif`;
const LETTER_WIDTH = rem(0.47);
const LEAST_TOP = 4;
const LEAST_STEP = rem(4.5);
/** Between hours or days, there is nothing to name. */
const STEPS_OF_HOURS = [1, 2, 3, 4, 6, 8, 12, 24, 48, 72].map((hours) => hours * 3600);
const STEPS_OF_DAYS = [1, 2, 3, 4, 5, 6, 7, 10, 15, 30, 60, 90, 120, 180, 365].map((days) => days * DAY_SECONDS);

/**
 * The colours of the theme, as a canvas understands them.
 * @param {HTMLElement} element
 */
export function coloursOf(element) {
  const probe = document.createElement('span');
  element.append(probe);
  const resolve = (/** @type {string} */ value) => {
    probe.style.color = value;
    return getComputedStyle(probe).color;
  };
  const colours = {
    area: resolve('var(--accent)'),
    fill: resolve('color-mix(in srgb, var(--accent) 14%, transparent)'),
    line: resolve('var(--text)'),
    before: resolve('var(--previous)'),
    running: resolve('var(--accent)'),
    first: resolve('var(--first)'),
    second: resolve('var(--second)'),
    third: resolve('var(--third)'),
    fourth: resolve('var(--fourth)'),
    fifth: resolve('var(--fifth)'),
    grid: resolve('var(--line)'),
    text: resolve('var(--muted)'),
    ground: resolve('var(--surface)'),
  };
  // With the reader's own colors, all would be one: what is above is told by its dashes, and a filling would hide it.
  if (isForced()) Object.assign(colours, { fill: 'transparent', grid: resolve('GrayText'), before: resolve('GrayText') });
  probe.remove();
  return colours;
}

const isForced = () => matchMedia('(forced-colors: active)').matches;

/** @typedef {ReturnType<typeof coloursOf>} Colours */

/**
 * @param {object} chart
 * @param {import('./uplot.js').UPlot} chart.uPlot
 * @param {DrawnSeries[]} chart.series
 * @param {import('./moments.js').Unit} chart.unit
 * @param {string} chart.suffix
 * @param {Colours} chart.colours
 * @param {number} chart.width
 * @param {number} chart.height
 * @param {(index: number | null, left: number) => void} chart.onPoint
 * @returns {import('../../vendor/uPlot.js').Options}
 */
export function optionsOf({ uPlot, series, unit, suffix, colours, width, height, onPoint }) {
  const axis = { stroke: colours.text, font: FONT, ticks: { show: false }, border: { show: false } };
  return {
    width,
    height,
    padding: [8, 32, 0, 0],
    legend: { show: false },
    // Days begin at midnight of UTC.
    tzDate: isOfDays(unit) ? (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC') : undefined,
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 8, width: 2, stroke: colours.ground, fill: (_, index) => String(series[index - 1] ? strokeOf(series[index - 1], colours) : '') },
    },
    scales: { x: { range: ({ data: [times] }, first, last) => (times.length === 1 ? around(times[0], unit) : [first, last]) }, y: { range: (_, least, most) => [0, Math.max(LEAST_TOP, (most ?? 0) * 1.08, least ?? 0)] } },
    axes: [
      {
        ...axis,
        ...(isOfDays(unit) ? { incrs: STEPS_OF_DAYS } : unit === 'hour' ? { incrs: STEPS_OF_HOURS } : {}),
        grid: { show: false },
        size: rem(1.75),
        gap: 10,
        space: LEAST_STEP,
        values: (_, marks, _axis, _space, step) => marks.map((mark) => markName(mark, unit, step)),
      },
      {
        ...axis,
        grid: { stroke: colours.grid, width: 1 },
        incrs: STEPS,
        space: rem(2.75),
        size: (_, marks) => 16 + LETTER_WIDTH * Math.max(1, ...(marks ?? []).map((mark) => mark.length)),
        values: (_, marks) => marks.map((mark) => shortNumber(mark) + suffix),
      },
    ],
    series: [{}, ...series.map((one) => styleOf(one, colours))],
    hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null, chart.cursor.left ?? -1)] },
  };
}

/** In seconds. @type {Record<import('./moments.js').Unit, number>} */
const LENGTHS = { minute: 60, hour: 3600, day: DAY_SECONDS, week: 7 * DAY_SECONDS, month: 30 * DAY_SECONDS };

/** A single time stands in the middle. @param {number} time @param {import('./moments.js').Unit} unit @returns {[number, number]} */
const around = (time, unit) => [time - LENGTHS[unit], time + LENGTHS[unit]];

/** Whole numbers, since what is counted has no halves. */
export const STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** @param {Series} series @param {Colours} colours */
const strokeOf = ({ look }, colours) => colours[look];

/** What tells lines from each other besides their colours: lengths of dashes and gaps. @type {Partial<Record<Look, number[]>>} */
const DASHES = { before: [4, 4], running: [5, 4], second: [8, 4], third: [2, 3], fourth: [12, 4, 2, 4], fifth: [6, 3, 2, 3, 2, 3] };

/** @param {Look} look @returns {number[]} */
export const dashOf = (look) => DASHES[look] ?? [];

/** @param {DrawnSeries} series @param {Colours} colours @returns {import('../../vendor/uPlot.js').Series} */
function styleOf(series, colours) {
  // A single value is no line.
  const isDot = series.values.filter((value) => value !== null).length === 1;
  const points = { show: isDot, size: 8, fill: strokeOf(series, colours) };
  const style = { label: series.label, stroke: strokeOf(series, colours), points };
  const isLine = series.look === 'line' && !series.isRunning;
  const dash = isLine && isForced() ? [2, 3] : dashOf(series.isRunning ? 'running' : series.look);
  if (series.look === 'area') return { ...style, width: 2, dash, fill: colours.fill };
  return { ...style, width: series.look === 'line' || series.look === 'before' ? 1.5 : 2, dash };
}
