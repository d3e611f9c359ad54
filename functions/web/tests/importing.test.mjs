import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { MOST_TOLD, encodingOf, look, sendFile } = await import('../app/parts/import/sending.js');
const { knownReading, rememberReading, zonesOfBrowser } = await import('../app/parts/import/remembered.js');
const { givenLink } = await import('../app/parts/given/given.js');

const CHOICES = { tags: ['moved'], on_conflict: 'skip', timezone: 'Europe/Oslo' };
const row = (line, more = {}) => ({ line, status: 'created', short_code: `c${line}`, original_url: `https://example.com/${line}`, reason: null, ignored: [], ...more });
const click = (line, status) => row(line, { status, original_url: null, short_code: 'c1' });
const results = (...rows) => ({ body: { format: 'table', written: true, results: rows } });
const table = (rows) => new File([`code,url\n${Array.from({ length: rows }, (_, at) => `c${at + 2},https://example.com/${at + 2}\n`).join('')}`], 'links.csv');
const many = (from, to, more) => results(...Array.from({ length: to - from + 1 }, (_, at) => row(from + at, more)));
const sent = (requests) => requests.map(({ body }) => JSON.parse(body));
const send = (file, options = {}) => sendFile(file, 'utf-8', CHOICES, { isDry: false, signal: new AbortController().signal, tell: () => {}, ...options });

test('a file is sent piece by piece, and its rows are counted', async () => {
  const requests = answering(many(2, 501), results(row(502), row(503, { status: 'taken', short_code: null, reason: 'another link has this short code' }), row(504, { ignored: ['image'] })));

  const progress = await send(table(503));

  assert.deepEqual(sent(requests).map(({ first_line: line, tags, dry_run: isDry }) => [line, tags, isDry]), [[1, ['moved'], false], [501, ['moved'], false]]);
  assert.deepEqual([progress.links, progress.clicks, progress.isDone, progress.failedCount], [{ created: 502, taken: 1 }, {}, true, 1]);
  assert.deepEqual(progress.told.map(({ line }) => line), [503, 504]);
});

test('clicks that come before their links are sent again behind them', async () => {
  const dump = "INSERT INTO `y_log` VALUES (1,'2026-01-01 00:00:00','a'),(2,'2026-01-01 00:00:01','b');\nINSERT INTO `y_url` VALUES ('a','https://a.example/');";
  const requests = answering(results(click(1, 'no_link'), click(1, 'no_link')), results(row(2)), results(click(1, 'created'), click(1, 'no_link')));

  const progress = await send(new File([dump], 'yourls.sql'));

  assert.deepEqual(sent(requests).map(({ text }) => text.includes('_log')), [true, false, true]);
  assert.deepEqual([progress.links, progress.clicks, progress.failedCount], [{ created: 1 }, { created: 1, no_link: 1 }, 1]);
});

test('clicks are sent once if none of their links has come', async () => {
  const requests = answering(results(click(2, 'no_link'), click(3, 'too_old')));

  const progress = await send(new File(['code,clicked_at\na,2026-01-01\na,2016-01-01\n'], 'clicks.csv'));

  assert.deepEqual([requests.length, progress.clicks, progress.isDone], [1, { too_old: 1, no_link: 1 }, true]);
});

test('what was not tried is sent until it was, and what was created stays so', async () => {
  const requests = answering(results(row(2), row(3, { status: 'not_tried' })), results(row(2, { status: 'same' }), row(3)));

  const progress = await send(table(2));

  assert.deepEqual([requests.length, progress.links], [2, { created: 2 }]);
});

test('it waits as long as the API wants, and says so', async () => {
  const told = [];
  answering({ status: 429, body: { code: 'too_many_requests', detail: 'wait' }, headers: { 'retry-after': '1' } }, many(2, 3));

  const progress = await send(table(2), { tell: (now) => told.push(now.retryAfter) });

  assert.deepEqual(told, [1, undefined]);
  assert.deepEqual(progress.links, { created: 2 });
});

test('stopped, it goes on where it was', async () => {
  const stopping = new AbortController();
  const first = answering(many(2, 501));
  const stopped = await send(table(600), { signal: stopping.signal, tell: () => stopping.abort() });
  assert.deepEqual([first.length, stopped.links, stopped.isDone], [1, { created: 500 }, false]);

  const requests = answering(many(502, 601));
  const progress = await send(table(600), { from: stopped });

  assert.deepEqual([sent(requests).map(({ first_line: line }) => line), progress.links, progress.isDone], [[501], { created: 600 }, true]);
});

test('a request that is refused names each of its rows', async () => {
  answering({ status: 400, body: { code: 'invalid', detail: 'no links were recognized', field: 'text' } });

  const progress = await send(table(2));

  assert.deepEqual(progress.told.map(({ line, status }) => [line, status]), [[2, 'invalid'], [3, 'invalid']]);
});

test('someone without the right is told so', async () => {
  answering({ status: 403, body: { code: 'forbidden', detail: 'You may not do this.' } });

  await assert.rejects(send(table(2)), { status: 403 });
});

test('a file of many bad rows keeps the first of them', async () => {
  const pieces = MOST_TOLD / 500 + 1;
  answering(...Array.from({ length: pieces }, (_, at) => many(2 + 500 * at, 501 + 500 * at, { status: 'invalid' })));

  const progress = await send(table(500 * pieces));

  assert.deepEqual([progress.told.length, progress.toldCount, progress.failedCount], [MOST_TOLD, MOST_TOLD + 500, MOST_TOLD + 500]);
});

test('a test sends nothing that would be written, and looks at few rows', async () => {
  const requests = answering(many(2, 21), results(click(2, 'no_link')));

  const seen = await look(table(100), 'utf-8', CHOICES);
  const progress = await send(table(1), { isDry: true });

  assert.deepEqual([seen.format, sent(requests).map(({ dry_run: isDry }) => isDry)], ['table', [true, true]]);
  assert.equal(sent(requests)[0].text.trim().split('\n').length, 21);
  // Links that aren't there yet are no failure.
  assert.deepEqual([progress.clicks, progress.failedCount, progress.told], [{ no_link: 1 }, 0, []]);
});

test('a row with a damaged letter is reported, and one with a damaged URL is not sent', async () => {
  const bytes = Uint8Array.from('code,url,title\na,https://a.example/f\xfcr,A\nb,https://b.example/,f\xfcr\nc,https://c.example/,f\xc3\xbcr\n', (letter) => letter.charCodeAt(0));
  const requests = answering(results(row(3), row(4)));

  const progress = await send(new File([bytes], 'links.csv'));

  assert.deepEqual(sent(requests).map(({ text }) => text), ['code,url,title\nb,https://b.example/,f\uFFFDr\nc,https://c.example/,für\n']);
  assert.deepEqual([progress.links, progress.failedCount], [{ created: 2, invalid: 1 }, 1]);
  assert.deepEqual(progress.told.map(({ line, status, reason }) => [line, status, reason]), [[3, 'created', 'this row has a damaged letter'], [2, 'invalid', 'a URL has a damaged letter']]);
  // Nothing of the other file can be sent.
  assert.deepEqual((await send(new File(['code,url\na,https://a.example/\uFFFD\n'], 'links.csv'))).links, { invalid: 1 });
  assert.equal(requests.length, 1);
});

test('an import that gets nowhere pauses, and ends', async (context) => {
  const waits = [];
  context.mock.method(globalThis, 'setTimeout', (work, ms) => void (waits.push(ms), queueMicrotask(work)));
  const nothing = many(2, 3, { status: 'not_tried' });
  const requests = answering(...Array.from({ length: 9 }, () => nothing));

  await assert.rejects(send(table(2)), /can’t continue now/);

  assert.equal(requests.length, 5);
  assert.deepEqual(waits.filter((ms) => ms % 2_000 === 0 && ms < 10_000), [2_000, 4_000, 6_000, 8_000]);
});

test('a file is read as the last time', () => {
  const file = table(2);
  assert.equal(knownReading(file), undefined);

  rememberReading(file, { timezone: 'Asia/Tokyo', from: 'go.example', format: 'yourls', other: 1 });

  assert.deepEqual(knownReading(table(2)), { timezone: 'Asia/Tokyo', from: 'go.example', format: 'yourls' });
  assert.equal(knownReading(table(3)), undefined);
  for (let rows = 3; rows < 30; rows += 1) rememberReading(table(rows), { timezone: 'UTC', from: '', format: '' });
  assert.equal(knownReading(file), undefined);
  assert.ok(zonesOfBrowser().zones.includes('Europe/Oslo'));
});

test('the encoding of a file is recognized', async () => {
  const encodings = [[[0xff, 0xfe, 0x61, 0], 'utf-16le'], [[0x61, 0xe9], 'windows-1252'], [[0x61, 0xc3, 0xa9], 'utf-8'], [[], 'utf-8']];
  const utf8 = new TextEncoder().encode('für\nfür');
  encodings.push([[...utf8, 0xc3], 'utf-8'], [[0x66, 0xfc, 0x72, 0x20, 0x66, 0xfc, 0x72, 0x20, 0xdf, 0x93], 'windows-1252']);
  for (const [bytes, encoding] of encodings) assert.equal(await encodingOf(new File([new Uint8Array(bytes)], 'a.csv')), encoding);
});

test('what a phone shares is searched for its URL', () => {
  const given = (query) => givenLink(new URLSearchParams(query));

  assert.deepEqual(given({ url: 'https://example.com/a', title: 'A page' }), { url: 'https://example.com/a', title: 'A page' });
  assert.deepEqual(given({ text: 'Look: https://example.com/b today', title: 'B' }), { url: 'https://example.com/b', title: 'B' });
  assert.deepEqual(given({ title: 'https://example.com/c' }), { url: 'https://example.com/c', title: undefined });
  // The form says what is wrong with it.
  assert.deepEqual(given({ url: 'javascript:alert(1)' }), { url: 'javascript:alert(1)', title: '' });
  assert.equal(given({ other: 'https://example.com/' }), undefined);
});
