// The picture of a chart: uPlot draws it, and the numbers under the pointer stand beside that.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { number } from '../../core/format.js';
import { rem } from '../../core/rem.js';
import { nameAt } from './moments.js';
import { coloursOf, optionsOf } from './options.js';
import { drawnSeries } from './running.js';
import { Swatch } from './swatch.js';
import { loadUPlot } from './uplot.js';

/** @typedef {import('../../vendor/uPlot.js')} Drawn */

const NOWHERE = { index: /** @type {number | null} */ (null), left: 0 };

/** @param {import('./chart.js').ChartProps} chart */
export function Plot(chart) {
  const { label, times, unit, suffix = '', height = 240 } = chart;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [point, setPoint] = useState(NOWHERE);
  const { drawn, failure } = useDrawing({ box, times, series: drawnSeries(chart), unit, suffix, height, setPoint });

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !drawn.current) return;
    event.preventDefault();
    const from = point.index ?? (step > 0 ? -1 : times.length);
    const to = Math.max(0, Math.min(times.length - 1, from + step));
    drawn.current.setCursor({ left: drawn.current.valToPos(times[to], 'x'), top: 0 });
  }

  return html`<div class="plot" style=${{ height: `${height}px` }}>
    <div
      class="plot-box"
      ref=${box}
      role="img"
      aria-label=${`${label}. The table shows the same numbers.`}
      tabindex="0"
      onKeyDown=${onKeyDown}
      onBlur=${() => setPoint(NOWHERE)}
    ></div>
    ${failure && html`<p class="muted">${failure}</p>`}
    <div role="status">
      ${point.index !== null && html`<${Tip} at=${point.index} left=${point.left} plot=${drawn.current} chart=${chart} />`}
    </div>
  </div>`;
}

/**
 * Draws, and draws again when the colours, the kind of lines or the numbers have changed.
 * @param {Pick<import('./chart.js').ChartProps, 'times' | 'unit'> & { series: import('./running.js').DrawnSeries[], box: import('../../vendor/preact.js').Ref<HTMLElement | null>, suffix: string, height: number, setPoint: (point: typeof NOWHERE) => void }} props
 */
function useDrawing({ box, times, series, unit, suffix, height, setPoint }) {
  const drawn = useRef(/** @type {Drawn | null} */ (null));
  const [failure, setFailure] = useState('');
  const theme = useThemeCount();
  const data = /** @type {import('../../vendor/uPlot.js').AlignedData} */ ([times, ...series.map(({ values }) => values)]);
  const latest = useRef({ data, series });
  latest.current = { data, series };
  const shape = JSON.stringify([unit, suffix, height, series.map(({ label, look, isRunning, values }) => [label, look, isRunning, values.filter((value) => value !== null).length === 1])]);

  useEffect(() => {
    let isGone = false;
    const element = /** @type {HTMLElement} */ (box.current);
    const observer = new ResizeObserver(() => drawn.current?.setSize({ width: element.clientWidth, height }));
    const onPoint = (/** @type {number | null} */ index, /** @type {number} */ left) => setPoint(left < 0 ? NOWHERE : { index, left });
    loadUPlot().then(
      (uPlot) => {
        if (isGone) return;
        const options = optionsOf({ uPlot, series: latest.current.series, unit, suffix, colours: coloursOf(element), width: element.clientWidth, height, onPoint });
        drawn.current = new uPlot(options, latest.current.data, element);
        drawn.current.root.ariaHidden = 'true';
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
  }, [shape, theme]);

  useEffect(() => drawn.current?.setData(data), [JSON.stringify(data)]);
  return { drawn, failure };
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

const TIP_WIDTH = rem(13);
const TIP_GAP = 12;

/**
 * The numbers of one time, beside the line that marks it.
 * @param {{ chart: import('./chart.js').ChartProps, at: number, left: number, plot: Drawn | null }} props
 */
function Tip({ at, left, plot, chart }) {
  const { times, series, suffix = '' } = chart;
  if (times[at] === undefined || !plot) return null;
  const line = plot.over.offsetLeft + left;
  const fitsBehind = line + TIP_GAP + TIP_WIDTH <= plot.width;
  const place = fitsBehind ? line + TIP_GAP : Math.max(0, line - TIP_WIDTH - TIP_GAP);
  return html`<div class="chart-tip" style=${{ left: `${place}px`, width: `${TIP_WIDTH}px` }}>
    <p>${nameAt(chart, at)}</p>
    ${series.map(({ label, look, values }) => {
      const value = values[at];
      return html`<div key=${label}><${Swatch} look=${look} /><span><bdi>${label}</bdi></span><strong>${value === null || value === undefined ? '–' : number(value) + suffix}</strong></div>`;
    })}
  </div>`;
}
