import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// Days are those of the visitor's clock, which is set back on 25 October.
process.env.TZ = 'Europe/Zurich';
const { DAY_MS, HOUR_MS, MOST_DAYS, dayOf, daysOf, periodOf, utcDayOf } = await import('../app/parts/times/period.js');

const NOW = Date.parse('2026-10-30T14:25:00Z');
const period = (query, since) => periodOf(new URLSearchParams(query), NOW, since);

/** What a pattern finds in a file of the repository. */
const number = (file, pattern) => Number(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').match(pattern)?.[1]);

test('the longest period of a page, the API and the template are the same', () => {
  assert.equal(number('shared/domain/src/lifetimes.rs', /RAW_CLICKS: Duration = Duration::from_secs\((\d+) \* DAY\)/), MOST_DAYS);
  assert.equal(number('template.yaml', /RawClickDays: \{ Type: Number, Default: (\d+),/), MOST_DAYS);
  assert.equal(number('docs/openapi.yaml', /^    Days:$(?:\n {6,}.*)*?\n          maxItems: (\d+)$/m), MOST_DAYS);
});

test('a custom period that is too long or invalid becomes the usual one', () => {
  const rangeOf = (days) => period({ range: 'own', from: dayOf(NOW - (days - 1) * DAY_MS), to: dayOf(NOW) }).range;
  assert.deepEqual([0, 1, MOST_DAYS, MOST_DAYS + 1].map(rangeOf), ['30d', 'own', 'own', '30d']);
  for (const from of ['', 'yesterday', '2026-13-01']) assert.equal(period({ range: 'own', from, to: '2026-10-30' }).range, '30d', from);
  assert.equal(period({ range: 'own', from: '2026-02-31', to: '2026-03-31' }).from, '2026-03-03');
});

test('a range has whole days of the visitor, of which the last is today', () => {
  const { from, to, start, end, unit, isYoung, name } = period({ range: '7d' }, '2026-01-01T00:00:00Z');
  assert.deepEqual({ from, to, unit, isYoung, name }, { from: '2026-10-24', to: '2026-10-30', unit: 'day', isYoung: false, name: '7 days' });
  assert.equal(new Date(start).toISOString(), '2026-10-23T22:00:00.000Z');
  assert.equal(end - start, 7 * DAY_MS + HOUR_MS);
  assert.deepEqual([period({}).from, period({ range: '12m' }).from, period({ range: 'none' }).range], ['2026-10-01', '2025-10-31', '30d']);
});

test('the last 24 hours end with this hour', () => {
  const { from, to, unit } = period({ range: '24h' });
  assert.deepEqual([from, to, unit], ['2026-10-29T15:00:00.000Z', '2026-10-30T15:00:00.000Z', 'hour']);
});

test('what is younger than the range begins with its creation', () => {
  const fewDays = period({}, '2026-10-20T22:30:00Z');
  assert.deepEqual([fewDays.from, fewDays.to, fewDays.unit, fewDays.isYoung], ['2026-10-21', '2026-10-30', 'day', true]);
  const today = period({}, '2026-10-30T05:40:00Z');
  assert.deepEqual([today.from, today.to, today.unit], ['2026-10-30T05:00:00.000Z', '2026-10-30T15:00:00.000Z', 'hour']);
  // What has just begun has room to grow.
  assert.deepEqual(['24h', '30d'].map((range) => period({ range }, '2026-10-30T14:20:00Z').to), Array(2).fill('2026-10-30T20:00:00.000Z'));
  assert.equal(period({ interval: 'day' }, '2026-10-30T05:40:00Z').from, '2026-10-30');
  // Before it was there, there is nothing.
  const before = period({ range: 'own', from: '2026-09-01', to: '2026-09-03' }, '2026-10-20T22:30:00Z');
  assert.deepEqual([before.from, before.isYoung], ['2026-09-01', false]);
});

test('hours are for a single day, or on request where there is room', () => {
  const unit = (from, interval) => period({ range: 'own', from, to: '2026-10-30', interval }).unit;
  assert.deepEqual([unit('2026-10-30', ''), unit('2026-10-28', ''), unit('2026-10-28', 'hour'), unit('2026-09-01', 'hour')], ['hour', 'day', 'hour', 'day']);
});

test('whole days may be those of UTC, and hours are none', () => {
  const days = (query, now) => daysOf(new URLSearchParams(query), utcDayOf(Date.parse(now)));
  // In Zurich, it is tomorrow.
  assert.deepEqual(days({ range: '7d' }, '2026-10-30T23:30:00Z'), { range: '7d', first: '2026-10-24', last: '2026-10-30', name: '7 days' });
  assert.equal(days({ range: '24h' }, '2026-10-30T12:00:00Z').range, '30d');
  assert.equal(days({ range: 'own', from: '2026-10-29', to: '2027-01-01' }, '2026-10-30T12:00:00Z').last, '2026-10-30');
});
