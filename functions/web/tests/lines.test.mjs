import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

process.env.TZ = 'Europe/Zurich';
const { linesOf, mergedLines } = await import('../app/parts/times/lines.js');
const { summedUp } = await import('../app/parts/times/groups.js');
const { drawnSeries, hasRunning } = await import('../app/parts/chart/running.js');
const { nameAt } = await import('../app/parts/chart/moments.js');

const point = (period, clicks) => ({ period, clicks, human_clicks: clicks - 1 });
const days = { interval: 'day', tz: 'Europe/Zurich', from: '2026-10-23T22:00:00.000Z', to: '2026-10-26T23:00:00.000Z', before: null };
const LATER = Date.parse('2026-12-01T00:00:00Z');

test('days without clicks have none', () => {
  const { times, clicks, humans } = linesOf({ ...days, points: [point('2026-10-24', 3), point('2026-10-26', 5)] }, LATER);
  assert.deepEqual(times.map((time) => new Date(time * 1000).toISOString().slice(0, 10)), ['2026-10-24', '2026-10-25', '2026-10-26']);
  assert.deepEqual([clicks, humans], [[3, 0, 5], [2, 0, 4]]);
});

test('hours that are still to come have no number', () => {
  const hours = { ...days, interval: 'hour', from: '2026-10-25T00:00:00.000Z', to: '2026-10-25T04:00:00.000Z' };
  const { clicks, times } = linesOf({ ...hours, points: [point('2026-10-25T01:00:00Z', 2)] }, Date.parse('2026-10-25T02:10:00Z'));
  assert.deepEqual(clicks, [0, 2, 0, null]);
  assert.equal(times[0], Date.parse('2026-10-25T00:00:00Z') / 1000);
});

test('days whose clicks weren’t looked at have no number', () => {
  const covers = { clicks: 18_000, of: 90_000, since: '2026-10-25T12:00:00.000Z' };
  assert.deepEqual(linesOf({ ...days, covers, points: [point('2026-10-25', 7)] }, LATER).clicks, [null, 7, 0]);
});

test('the time before has as many days', () => {
  const before = { from: '2026-10-20T22:00:00.000Z', to: '2026-10-23T22:00:00.000Z', points: [point('2026-10-22', 4)] };
  assert.deepEqual(linesOf({ ...days, before, points: [] }, LATER).before, [0, 4, 0]);
  assert.equal(linesOf({ ...days, points: [] }, LATER).before, null);
});

test('where the API tells hours of UTC only, these are taken', () => {
  const hours = { ...days, tz: 'UTC', interval: 'hour', from: '2026-10-24T18:30:00.000Z', to: '2026-10-24T20:30:00.000Z' };
  assert.deepEqual(linesOf({ ...hours, points: [point('2026-10-24T19:00:00Z', 6)] }, LATER).clicks, [0, 6, 0]);
});

test('lines of several answers have the times of all', () => {
  const lines = (times, clicks) => ({ times, clicks, humans: clicks, before: null });
  assert.deepEqual(mergedLines([lines([1, 2], [5, 6]), lines([2, 3], [7, 8])]), { times: [1, 2, 3], clicks: [[5, 6, null], [null, 7, 8]] });
});

test('the running day or hour is known by the clock of the zone', () => {
  const points = [point('2026-10-26', 5)];
  assert.equal(linesOf({ ...days, points }, Date.parse('2026-10-26T22:30:00Z')).running, 2);
  assert.equal(linesOf({ ...days, points }, LATER).running, undefined);
  const hours = { ...days, interval: 'hour', from: '2026-10-25T00:00:00.000Z', to: '2026-10-25T04:00:00.000Z', points: [] };
  assert.equal(linesOf(hours, Date.parse('2026-10-25T02:00:00Z')).running, 2);
  assert.equal(linesOf(hours, Date.parse('2026-10-25T02:59:59Z')).running, 2);
});

test('a line leads dashed to what is not over, and the time before does not', () => {
  const series = [{ label: 'Clicks', look: 'area', values: [3, 4, 5, null] }, { label: 'Before', look: 'before', values: [1, 1, 1, 1] }];
  const drawn = drawnSeries({ series, running: 2 });
  assert.deepEqual(drawn.map(({ look, isRunning = false, values }) => [look, isRunning, values]), [
    ['area', false, [3, 4, null, null]],
    ['before', false, [1, 1, 1, 1]],
    ['area', true, [null, 4, 5, null]],
  ]);
  assert.deepEqual([drawnSeries({ series }), hasRunning({ series, running: 2 }), hasRunning({ series }), hasRunning({ series, running: 3 })], [series, true, false, false]);
});

test('weeks are sums of their days, named by them, and the running one says so', () => {
  const times = Array.from({ length: 10 }, (_, at) => Date.parse('2026-10-24') / 1000 + at * 86_400);
  const values = times.map((_, at) => at);
  const chart = summedUp({ label: '', unit: 'day', times, running: 9, series: [{ label: 'Clicks', look: 'area', values: [null, ...values.slice(1)] }, { label: 'Before', look: 'before', values: values.map(() => null) }] }, 'week');
  assert.deepEqual([chart.unit, chart.running, chart.series.map((one) => one.values)], ['week', 2, [[1, 35, 9], [null, null, null]]]);
  const format = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  // The first week of the range has two days of it only.
  assert.equal(nameAt(chart, 0), format.formatRange(Date.parse('2026-10-24'), Date.parse('2026-10-25')));
  assert.equal(nameAt(chart, 2), `${format.format(Date.parse('2026-11-02'))}, so far`);
  assert.equal(summedUp(chart, 'day'), chart);
});
