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
  // What has just begun has some hours before it.
  assert.deepEqual(['24h', '30d'].map((range) => period({ range }, '2026-10-30T14:20:00Z').from), Array(2).fill('2026-10-30T09:00:00.000Z'));
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
  assert.deepEqual(days({ range: '7d' }, '2026-10-30T23:30:00Z'), { range: '7d', first: '2026-10-24', last: '2026-10-30', name: '7 days', before: { first: '2026-10-17', last: '2026-10-23', name: 'the previous 7 days' } });
  assert.equal(days({ range: '24h' }, '2026-10-30T12:00:00Z').range, '30d');
  assert.equal(days({ range: 'own', from: '2026-10-29', to: '2027-01-01' }, '2026-10-30T12:00:00Z').last, '2026-10-30');
});

test('named times are compared with as much of the time before', () => {
  const days = (range, today = '2026-10-30') => {
    const { first, last, before } = daysOf(new URLSearchParams({ range }), today);
    return [first, last, before?.first, before?.last];
  };
  assert.deepEqual(days('today'), ['2026-10-30', '2026-10-30', '2026-10-29', '2026-10-29']);
  assert.deepEqual(days('yesterday'), ['2026-10-29', '2026-10-29', '2026-10-28', '2026-10-28']);
  // The 30th is a Friday.
  assert.deepEqual(days('week'), ['2026-10-26', '2026-10-30', '2026-10-19', '2026-10-23']);
  assert.deepEqual(days('week', '2026-11-01')[0], '2026-10-26');
  assert.deepEqual(days('last-week'), ['2026-10-19', '2026-10-25', '2026-10-12', '2026-10-18']);
  assert.deepEqual(days('month'), ['2026-10-01', '2026-10-30', '2026-09-01', '2026-09-30']);
  assert.deepEqual(days('month', '2026-03-31'), ['2026-03-01', '2026-03-31', '2026-02-01', '2026-02-28']);
  assert.deepEqual(days('last-month'), ['2026-09-01', '2026-09-30', '2026-08-01', '2026-08-31']);
  assert.deepEqual(days('last-month', '2026-01-15'), ['2025-12-01', '2025-12-31', '2025-11-01', '2025-11-30']);
  assert.deepEqual(days('quarter'), ['2026-10-01', '2026-10-30', '2026-07-01', '2026-07-30']);
  assert.deepEqual(days('quarter', '2026-06-30'), ['2026-04-01', '2026-06-30', '2026-01-01', '2026-03-31']);
  assert.deepEqual(days('90d'), ['2026-08-02', '2026-10-30', '2026-05-04', '2026-08-01']);
  assert.deepEqual(days('year'), ['2026-01-01', '2026-10-30', '2025-01-01', '2025-10-30']);
  assert.deepEqual(days('all'), ['2025-09-30', '2026-10-30', undefined, undefined]);
});

test('what the API compares with by itself is not asked for', () => {
  const isAsked = (range, more) => period({ range, ...more }).before?.isAsked;
  assert.deepEqual(['24h', '7d', '30d', 'yesterday', 'last-week', '90d'].map((range) => isAsked(range)), Array(6).fill(false));
  // It compares with as many days, and with no more than fit into 13 months together.
  assert.deepEqual(['today', 'week', 'last-month', 'quarter', 'year', '12m'].map((range) => isAsked(range)), Array(6).fill(true));
  assert.deepEqual([isAsked('own', { from: '2026-10-01', to: '2026-10-03' }), isAsked('own', { from: '2026-01-01', to: '2026-10-03' })], [false, true]);
  assert.deepEqual([period({ range: 'all' }).before, period({ range: 'month' }, '2026-10-20T10:00:00Z').before], [undefined, undefined]);
});

test('today is compared with yesterday until this time', () => {
  const { from, to, unit, before } = period({ range: 'today' });
  assert.deepEqual([from, to, unit], ['2026-10-30', '2026-10-30', 'hour']);
  assert.deepEqual([before.from, before.to], ['2026-10-28T23:00:00.000Z', '2026-10-29T14:25:00.000Z']);
});

test('a time says its dates', () => {
  const format = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  assert.equal(period({ range: 'last-month' }).dates, format.formatRange(Date.parse('2026-09-01'), Date.parse('2026-09-30')));
  assert.equal(period({ range: 'yesterday' }).dates, format.format(Date.parse('2026-10-29')));
});
