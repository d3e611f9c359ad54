// A chart as a picture: with a title and a legend, since nothing else says what it is.

import { runningLabel } from '../chart/chart.js';
import { coloursOf, dashOf, optionsOf } from '../chart/options.js';
import { drawnSeries, hasRunning } from '../chart/running.js';
import { loadUPlot } from '../chart/uplot.js';

const [WIDTH, HEIGHT, EDGE] = [1200, 480, 32];
const [TITLE, LEGEND] = [48, 32];
const SWATCH = 24;

/**
 * @param {string} title
 * @param {import('../chart/chart.js').ChartProps} chart
 * @returns {Promise<Blob | null>}
 */
export async function pictureOf(title, chart) {
  const plot = await drawn(chart);
  try {
    const { canvas, colours } = plot;
    const scale = canvas.width / WIDTH;
    const picture = document.createElement('canvas');
    picture.width = canvas.width + 2 * EDGE * scale;
    picture.height = canvas.height + (TITLE + LEGEND + 2 * EDGE) * scale;
    const pen = /** @type {CanvasRenderingContext2D} */ (picture.getContext('2d'));
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, picture.width, picture.height);
    pen.scale(scale, scale);
    pen.textBaseline = 'middle';
    pen.fillStyle = plot.ink;
    pen.font = '600 20px system-ui, sans-serif';
    pen.fillText(title, EDGE, EDGE + TITLE / 2 - 8);
    drawLegend(pen, [...chart.series, ...(hasRunning(chart) ? [{ label: runningLabel(chart.unit), look: /** @type {const} */ ('running') }] : [])], colours);
    pen.drawImage(canvas, EDGE, EDGE + TITLE + LEGEND, WIDTH, HEIGHT);
    return await new Promise((done) => picture.toBlob(done, 'image/png'));
  } finally {
    plot.end();
  }
}

/**
 * Draws a chart out of sight.
 * @param {import('../chart/chart.js').ChartProps} chart
 */
async function drawn(chart) {
  const { times, unit, suffix = '' } = chart;
  const series = drawnSeries(chart);
  const uPlot = await loadUPlot();
  const box = Object.assign(document.createElement('div'), { className: 'picture-box', ariaHidden: 'true' });
  document.body.append(box);
  const colours = coloursOf(box);
  const options = optionsOf({ uPlot, series, unit, suffix, colours, width: WIDTH, height: HEIGHT, onPoint: () => {} });
  const data = /** @type {import('../../vendor/uPlot.js').AlignedData} */ ([times, ...series.map(({ values }) => values)]);
  /** @type {import('../../vendor/uPlot.js')} */
  const plot = await new Promise((done) => new uPlot({ ...options, hooks: { draw: [done] } }, data, box));
  const end = () => {
    plot.destroy();
    box.remove();
  };
  return { canvas: plot.ctx.canvas, colours, ink: getComputedStyle(document.body).color, end };
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {{ label: string, look: import('../chart/options.js').Look }[]} series
 * @param {import('../chart/options.js').Colours} colours
 */
function drawLegend(pen, series, colours) {
  let left = EDGE;
  const middle = EDGE + TITLE + LEGEND / 2 - 8;
  pen.font = '14px system-ui, sans-serif';
  for (const { label, look } of series) {
    pen.strokeStyle = colours[look];
    pen.lineWidth = 2;
    pen.setLineDash(dashOf(look));
    pen.beginPath();
    pen.moveTo(left, middle);
    pen.lineTo(left + SWATCH, middle);
    pen.stroke();
    pen.fillStyle = colours.text;
    pen.fillText(label, left + SWATCH + 8, middle);
    left += SWATCH + 8 + pen.measureText(label).width + 24;
  }
}
