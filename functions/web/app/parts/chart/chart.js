// Lines over time, with the same numbers as a table.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { number, shortNumber } from '../../core/format.js';
import { Choice } from '../../ui/chips.js';
import { Table } from '../../ui/table.js';
import { colorsOf, faded, watchTheme } from './colors.js';
import { loadUplot } from './uplot.js';

/**
 * A line. `area`: the first series, filled. `line`: another one. `before`: the period before, dashed.
 * @typedef {object} Series
 * @property {string} label
 * @property {(number | null)[]} values
 * @property {'area' | 'line' | 'before'} look
 */

/** @typedef {'hour' | 'day' | 'minute'} Unit */

const COLORS = { area: '--accent', line: '--text', before: '--previous' };
const NAMES = ['--accent', '--text', '--previous', '--muted', '--line'];
const VIEWS = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
];

/** @type {Record<Unit, Intl.DateTimeFormatOptions>} */
const FORMATS = {
  minute: { hour: '2-digit', minute: '2-digit' },
  hour: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
};

/**
 * @param {object} props
 * @param {string} props.label what is shown, for screen readers and the table
 * @param {number[]} props.times in seconds, ascending
 * @param {Series[]} props.series
 * @param {Unit} props.unit
 * @param {number} [props.height]
 * @param {string} [props.suffix] of each number, such as ` ms`
 * @param {unknown} [props.controls] what stands beside the switch, such as ranges
 */
export function TimeChart({ label, times, series, unit, height = 240, suffix = '', controls }) {
  const [view, setView] = useState('chart');
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  const format = new Intl.DateTimeFormat(undefined, FORMATS[unit]);
  const index = at !== null && at < times.length ? at : null;
  return html`<figure class="chart" aria-label=${label}>
    <div class="chart-head">
      <${Legend} series=${series} index=${index} suffix=${suffix} time=${index === null ? '' : format.format(times[index] * 1000)} />
      <div class="actions">${controls}<${Choice} label="Shown as" value=${view} options=${VIEWS} onChange=${setView} /></div>
    </div>
    ${view === 'chart'
      ? html`<${Plot} label=${label} times=${times} series=${series} unit=${unit} height=${height} suffix=${suffix} index=${index} onIndex=${setAt} />`
      : html`<${Numbers} label=${label} times=${times} series=${series} format=${format} suffix=${suffix} height=${height} />`}
  </figure>`;
}

/** @param {{ series: Series[], index: number | null, time: string, suffix: string }} props */
function Legend({ series, index, time, suffix }) {
  return html`<ul class="legend">
    ${series.map((one) => {
      const value = index === null ? undefined : one.values[index];
      return html`<li key=${one.label}><i class=${one.look} aria-hidden="true"></i>${one.label}${value !== undefined && html` <strong>${value === null ? '–' : number(value) + suffix}</strong>`}</li>`;
    })}
    <li class="muted">${time}</li>
  </ul>`;
}

/** @param {{ label: string, times: number[], series: Series[], format: Intl.DateTimeFormat, suffix: string, height: number }} props */
function Numbers({ label, times, series, format, suffix, height }) {
  const rows = times.map((time, index) => ({ time, index })).reverse();
  /** @type {import('../../ui/table.js').Column<{ time: number, index: number }>[]} */
  const columns = [
    { label: 'Time', isHeader: true, cell: ({ time }) => format.format(time * 1000) },
    ...series.map((one) => ({
      label: one.label,
      isNumber: true,
      cell: (/** @type {{ index: number }} */ { index }) => (one.values[index] == null ? '–' : number(/** @type {number} */ (one.values[index])) + suffix),
    })),
  ];
  return html`<div class="chart-table" style=${{ maxHeight: `${height + 80}px` }}>
    <${Table} label=${label} columns=${columns} rows=${rows} keyOf=${(/** @type {{ time: number }} */ { time }) => String(time)} />
  </div>`;
}

/**
 * @param {{ label: string, times: number[], series: Series[], unit: Unit, height: number, suffix: string, index: number | null, onIndex: (index: number | null) => void }} props
 */
function Plot({ label, times, series, unit, height, suffix, index, onIndex }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {any} */ (null));
  const [Uplot, setUplot] = useState(/** @type {any} */ (null));
  const [theme, setTheme] = useState(0);
  const shape = JSON.stringify([unit, height, suffix, series.map(({ label: name, look }) => [name, look])]);

  useEffect(() => {
    // `setUplot` would call it.
    loadUplot().then((loaded) => setUplot(() => loaded), () => {});
    return watchTheme(() => setTheme((count) => count + 1));
  }, []);

  useLayoutEffect(() => {
    if (!Uplot || !box.current) return undefined;
    const element = box.current;
    const options = optionsOf({ element, series, unit, suffix, height, onIndex, Uplot });
    plot.current = new Uplot(options, [times, ...series.map(({ values }) => values)], element);
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current.destroy();
      plot.current = null;
    };
  }, [Uplot, theme, shape]);

  useLayoutEffect(() => {
    plot.current?.setData([times, ...series.map(({ values }) => values)]);
  }, [times, series]);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !plot.current) return;
    event.preventDefault();
    const to = Math.max(0, Math.min(times.length - 1, (index ?? (step > 0 ? -1 : times.length)) + step));
    plot.current.setCursor({ left: plot.current.valToPos(times[to], 'x'), top: 0 });
    onIndex(to);
  }

  return html`<div class="plot" ref=${box} style=${{ height: `${height}px` }} role="img" aria-label=${`${label}. The table has the same numbers.`} tabindex="0" onKeyDown=${onKeyDown} onBlur=${() => onIndex(null)}></div>`;
}

/** @param {{ element: HTMLElement, series: Series[], unit: Unit, suffix: string, height: number, onIndex: (index: number | null) => void, Uplot: any }} given */
function optionsOf({ element, series, unit, suffix, height, onIndex, Uplot }) {
  const colors = colorsOf(element, NAMES);
  const axis = { stroke: colors['--muted'], font: '12px system-ui, sans-serif', ticks: { show: false } };
  const grid = { stroke: colors['--line'], width: 1 };
  const short = new Intl.DateTimeFormat(undefined, unit === 'day' ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' });
  const midnight = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
  const name = (/** @type {number} */ seconds) => {
    const date = new Date(seconds * 1000);
    return unit !== 'day' && date.getHours() === 0 && date.getMinutes() === 0 ? midnight.format(date) : short.format(date);
  };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ most) => [0, Math.max(4, most * 1.08)] } },
    axes: [
      { ...axis, grid: { show: false }, space: 72, size: 28, values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map(name) },
      {
        ...axis,
        grid,
        size: 52,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1e8],
        values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map((value) => shortNumber(value) + suffix),
      },
    ],
    series: [
      {},
      ...series.map(({ label, look }) => ({
        label,
        stroke: colors[COLORS[look]],
        fill: look === 'area' ? faded(colors['--accent'], 0.14) : undefined,
        width: look === 'area' ? 2 : 1.25,
        dash: look === 'before' ? [4, 4] : undefined,
        points: { show: false },
        spanGaps: false,
        paths: Uplot.paths.linear(),
      })),
    ],
    hooks: { setCursor: [(/** @type {any} */ { cursor }) => onIndex(cursor.idx ?? null)] },
  };
}
