import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

process.env.TZ = 'Europe/Zurich';
const { linesOf, mergedLines } = await import('../app/parts/times/lines.js');

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
