import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { FEW_CLICKS, MOST_CLICKS, readLatest, withNews } = await import('../app/pages/link/read.js');

const { fits, isTold } = await import('../app/pages/link/matching.js');

/** Clicks, newest first, of which each has the number of those before it. */
const clicks = (newest, count) => Array.from({ length: count }, (_, at) => ({ id: String(newest - at) }));

test('what has come since is put on top of the clicks that are known', () => {
  const known = clicks(100, MOST_CLICKS);
  assert.deepEqual(withNews(known, clicks(103, FEW_CLICKS)), clicks(103, MOST_CLICKS));
  assert.deepEqual(withNews(clicks(30, 30), clicks(31, FEW_CLICKS)), clicks(31, 31));
  assert.deepEqual(withNews(clicks(3, 3), clicks(5, 5)), clicks(5, 5));
});

test('the list stays the same while nothing comes', () => {
  for (const known of [clicks(100, MOST_CLICKS), clicks(FEW_CLICKS, FEW_CLICKS), clicks(3, 3), []]) {
    assert.equal(withNews(known, known.slice(0, FEW_CLICKS)), known);
  }
});

test('a click that comes late has its place', () => {
  const known = clicks(100, MOST_CLICKS).filter(({ id }) => id !== '95');
  assert.deepEqual(withNews(known, clicks(100, FEW_CLICKS))?.slice(0, 30), clicks(100, 30));
});

test('where there may be others between, all are read again', () => {
  assert.equal(withNews(clicks(100, MOST_CLICKS), clicks(150, FEW_CLICKS)), undefined);
  assert.equal(withNews([], clicks(20, FEW_CLICKS)), undefined);
});

const NOW = Date.now();
const click = (number, more = {}) => ({ id: String(number), clicked_at: new Date(NOW - 3_600_000 + number * 1_000).toISOString(), audience: 'human', device: 'mobile', browser: 'Firefox', os: 'Android', country: 'NO', referer: null, source: 'direct', campaign: null, ...more });
const many = (newest, count, more) => Array.from({ length: count }, (_, at) => click(newest - at, more));
const view = (filter = {}, audience = 'people') => ({ code: 'a', since: '2026-01-01T00:00:00Z', query: new URLSearchParams(), audience, filter });
const ids = (clicks) => clicks.map(({ id }) => Number(id));

test('a click fits as the API judges it', () => {
  const always = { start: 0, end: Infinity };
  const fit = (filter, more, audience) => fits(click(1, more), view(filter, audience), always);
  assert(fit({}, {}) && !fit({}, { audience: 'bot' }) && !fit({}, { audience: 'prefetch' }));
  assert(fit({}, { audience: 'prefetch' }, 'bots') && fit({}, { audience: 'bot' }, 'all') && !fit({}, {}, 'bots'));
  assert(fit({ country: ['SE', 'NO'] }, {}) && fit({ country: ['no'] }, {}) && !fit({ country: ['SE'] }, {}) && fit({ country: ['unknown'] }, { country: null }));
  assert(!fit({ country: ['NO'], browser: ['Chrome'] }, {}));
  assert(fit({ referer: ['(none)'] }, {}) && fit({ campaign: ['(none)'] }, {}));
  const referer = 'https://news.example/today?id=7#top';
  assert(fit({ referer: ['https://news.example/today'] }, { referer }) && fit({ referer: ['news.example'] }, { referer }) && !fit({ referer: ['https://news.example/'] }, { referer }));
  const long = `https://news.example/${'é'.repeat(60)}`;
  assert(fit({ referer: [`https://news.example/${'é'.repeat(39)}`] }, { referer: long }));
  assert(!fits(click(1), view(), { start: NOW, end: NOW + 1 }));
  assert(isTold({ country: ['NO'] }) && !isTold({ destination: ['target'] }));
});

test('the clicks of a link with few are filtered without a question', async () => {
  const requests = answering({ body: { clicks: [...many(5, 3), ...many(2, 2, { audience: 'bot' })] } }, { body: { clicks: [click(6), ...many(5, 3), ...many(2, 2, { audience: 'bot' })] } });
  const known = await readLatest(view(), undefined);
  assert.deepEqual(ids(known.clicks), [5, 4, 3]);
  assert.deepEqual(ids((await readLatest(view(), known)).clicks), [6, 5, 4, 3]);
  assert.deepEqual(requests.map(({ url }) => url.split('?')[1]), ['limit=100', 'limit=20']);
});

test('apps are referrers by their whole name, pages also by their host', () => {
  const period = { start: 0, end: Date.parse('2100-01-01') };
  const isFrom = (wanted, referer) => fits({ clicked_at: '2026-03-02T00:00:00Z', audience: 'human', referer }, { audience: 'people', filter: { referer: [wanted] } }, period);
  assert.equal(isFrom('android-app://com.example', 'android-app://com.example'), true);
  assert.equal(isFrom('com.example', 'android-app://com.example'), false);
  assert.equal(isFrom('news.example', 'https://news.example/a'), true);
});

test('the API finds clicks of a view once if the latest have too few', async () => {
  const noise = many(200, MOST_CLICKS, { audience: 'bot' });
  const requests = answering({ body: { clicks: noise } }, { body: { clicks: many(90, 30) } }, { body: { clicks: noise.slice(0, FEW_CLICKS) } }, { body: { clicks: [click(201), ...noise.slice(0, FEW_CLICKS - 1)] } });
  const known = await readLatest(view({ country: ['NO'] }), undefined);
  assert.deepEqual(ids(known.clicks).slice(0, 2), [90, 89]);
  assert.match(requests[1].url, /audience=human&country=NO&limit=100$/);
  assert.equal(await readLatest(view({ country: ['NO'] }), known), known);
  assert.deepEqual(ids((await readLatest(view({ country: ['NO'] }), known)).clicks).slice(0, 2), [201, 90]);
  assert.equal(requests.length, 4);
});
