// Numbers over time as a picture, and the same numbers as a table.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { number, shortNumber } from '../../core/format.js';
import { Table } from '../../ui/table.js';
import { momentName } from './moments.js';
import { coloursOf, optionsOf } from './options.js';
import { loadUPlot } from './uplot.js';

/**
 * @typedef {object} ChartSeries
 * @property {string} label
 * @property {'area' | 'line' | 'before'} kind `before` is the period before, dashed
 * @property {(number | null)[]} values one for each of the times; `null` where there is none
 */

/**
 * @typedef {object} ChartProps
 * @property {string} label what it shows, such as `Clicks by day`
 * @property {number[]} times when each value begins, in seconds since 1970
 * @property {ChartSeries[]} series
 * @property {import('./moments.js').Unit} unit
 * @property {(value: number) => string} [format] of the values; short ones stand at the axis
 * @property {number} [height]
 * @property {boolean} [isTable] shows the numbers as a table instead
 */

/** @param {ChartProps} props */
export function Chart(props) {
  return html`<div class="chart">
    ${props.isTable ? html`<${NumbersTable} ...${props} />` : html`<${Legend} series=${props.series} /><${Picture} ...${props} />`}
  </div>`;
}

/** @param {{ series: ChartSeries[] }} props */
function Legend({ series }) {
  if (series.length < 2) return null;
  return html`<ul class="legend">
    ${series.map(({ label, kind }) => html`<li><i class=${`swatch ${kind}`} aria-hidden="true"></i>${label}</li>`)}
  </ul>`;
}

/** @param {ChartProps} props */
function NumbersTable({ label, times, series, unit, format = number }) {
  const columns = [
    { label: { day: 'Day', hour: 'Hour', moment: 'Time' }[unit], cell: (/** @type {number} */ at) => momentName(times[at], unit), isHeader: true },
    ...series.map(({ label: name, values }) => ({ label: name, cell: (/** @type {number} */ at) => shown(values[at], format), isNumber: true })),
  ];
  const rows = times.map((_, at) => at).reverse();
  return html`<div class="chart-table"><${Table} label=${label} columns=${columns} rows=${rows} keyOf=${(/** @type {number} */ at) => String(times[at])} /></div>`;
}

/** @param {number | null | undefined} value @param {(value: number) => string} format */
const shown = (value, format) => (value === null || value === undefined ? '–' : format(value));

/** @param {ChartProps} props */
function Picture({ label, times, series, unit, format, height = 240 }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const drawn = useRef(/** @type {import('../../vendor/uPlot.js') | null} */ (null));
  const [point, setPoint] = useState({ index: /** @type {number | null} */ (null), left: 0 });
  const [failure, setFailure] = useState('');
  const theme = useThemeCount();
  const data = /** @type {import('../../vendor/uPlot.js').AlignedData} */ ([times, ...series.map(({ values }) => values)]);
  const latest = useRef({ data, series });
  latest.current = { data, series };
  const kinds = JSON.stringify([unit, times.length === 1, series.map(({ label: name, kind }) => [name, kind])]);

  useEffect(() => {
    let isGone = false;
    const element = /** @type {HTMLElement} */ (box.current);
    const observer = new ResizeObserver(() => drawn.current?.setSize({ width: element.clientWidth, height }));
    loadUPlot().then(
      (uPlot) => {
        if (isGone) return;
        const onPoint = (/** @type {number | null} */ index, /** @type {number} */ left) => setPoint({ index: left < 0 ? null : index, left });
        const given = { uPlot, unit, height, series: latest.current.series, format: format ?? shortNumber, colours: coloursOf(element), width: element.clientWidth, onPoint };
        drawn.current = new uPlot(optionsOf(given), latest.current.data, element);
        observer.observe(element);
      },
      (error) => isGone || setFailure(error.message),
    );
    return () => {
      isGone = true;
      observer.disconnect();
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [kinds, theme, height]);

  useEffect(() => drawn.current?.setData(data), [JSON.stringify(data)]);

  return html`<div class="chart-picture" role="img" aria-label=${`${label}. The same numbers are in the table.`} style=${{ height: `${height}px` }}>
    <div class="chart-box" ref=${box}></div>
    ${failure && html`<p class="muted">${failure}</p>`}
    ${point.index !== null && html`<${Tip} at=${point.index} left=${point.left} plot=${drawn.current} times=${times} series=${series} unit=${unit} format=${format ?? number} />`}
  </div>`;
}

/** Counts how often the colours have changed. */
function useThemeCount() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setCount((before) => before + 1);
    system.addEventListener('change', onChange);
    addEventListener('themechange', onChange);
    return () => {
      system.removeEventListener('change', onChange);
      removeEventListener('themechange', onChange);
    };
  }, []);
  return count;
}

const TIP_WIDTH = 208;

/** The numbers under the pointer. @param {Pick<ChartProps, 'times' | 'series' | 'unit'> & { at: number, left: number, plot: any, format: (value: number) => string }} props */
function Tip({ at, left, plot, times, series, unit, format }) {
  if (times[at] === undefined) return null;
  const origin = plot ? plot.over.offsetLeft : 0;
  const width = plot ? plot.width : TIP_WIDTH;
  const isLeft = origin + left + TIP_WIDTH + 16 > width;
  const place = isLeft ? Math.max(0, origin + left - TIP_WIDTH - 12) : origin + left + 12;
  return html`<div class="chart-tip" aria-hidden="true" style=${{ left: `${place}px`, width: `${TIP_WIDTH}px` }}>
    <p>${momentName(times[at], unit)}</p>
    ${series.map(
      ({ label, kind, values }) => html`<div><i class=${`swatch ${kind}`}></i><span>${label}</span><strong>${shown(values[at], format)}</strong></div>`,
    )}
  </div>`;
}
