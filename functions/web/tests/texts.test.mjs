import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import './browser.mjs';
import { visibleTexts } from './visible.mjs';

const { guessUrl, safeUrl } = await import('../app/core/address.js');
const { age, counted, cutMiddle, hostOf, number, percent, percents, shortNumber, withoutScheme } = await import('../app/core/format.js');
const { contrastOf } = await import('../app/parts/qr/contrast.js');
const { withParameter } = await import('../app/parts/utm/campaign.js');
const { siteOfReferer } = await import('../app/parts/panels/names.js');
const { invitationToken } = await import('../app/pages/nowhere/invitation-token.js');
const { pageOf } = await import('../app/pages/notifications/subject.js');
const { filterOf, isEverything, requestOf } = await import('../app/pages/links/filter.js');
const { withTag } = await import('../app/parts/link-rows/choices.js');

test('only http and https lead somewhere', () => {
  for (const url of ['https://example.com/', 'http://münchen.de/']) assert(safeUrl(url), url);
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'ftp://example.com', 'example.com', '', '//example.com']) {
    assert.equal(safeUrl(url), undefined, url);
  }
});

test('an address may be typed without its scheme', () => {
  assert.equal(guessUrl(' example.com/a?b=c '), 'https://example.com/a?b=c');
  assert.equal(guessUrl('HTTP://Example.com'), 'HTTP://Example.com');
  assert.equal(guessUrl('\uFEFF https://example.com/❤\uFE0F\u200B\u200E'), 'https://example.com/❤\uFE0F');
  assert.equal(guessUrl('\u2060example.com\u00AD'), 'https://example.com');
  assert.equal(guessUrl('localhost.localdomain:8080/x'), 'https://localhost.localdomain:8080/x');
  for (const text of ['hello', 'two words.com', 'ada@example.com', 'javascript:alert(1).x', '', '/path.html']) {
    assert.equal(guessUrl(text), undefined, text);
  }
});

test('a referrer is shown by its page’s host or its app’s name', () => {
  assert.equal(siteOfReferer('https://www.news.example/a'), 'news.example');
  assert.equal(siteOfReferer('android-app://com.example'), 'android-app://com.example');
});

test('an invitation is found in what somebody pastes', () => {
  const token = 'inv_0pW5mQ2xYb7KcD9fGh3JkL6nRs8TvZ1a';
  for (const pasted of [token, ` ${token}\n`, `https://go.example.com/app#/invitation?token=${token}`, `#/invitation?token=${token}&email=ada%40example.com`, `Open (${token}).`]) {
    assert.equal(invitationToken(pasted), token, pasted);
  }
  for (const pasted of ['', 'https://go.example.com/app#/invitation', 'inv_', 'inv', 'myinv_0', 'vrf_0']) {
    assert.equal(invitationToken(pasted), undefined, pasted);
  }
});

test('numbers, ages and addresses are short', () => {
  assert.deepEqual([shortNumber(9_999), counted(1, 'click'), counted(2, 'click')], [Intl.NumberFormat().format(9_999), '1 click', '2 clicks']);
  assert.match(shortNumber(12_403), /12.4/);
  assert.deepEqual([age(new Date()), age(new Date(Date.now() - 3 * 86_400_000))], ['now', '3 d']);
  assert.deepEqual([hostOf('https://www.example.com/a'), withoutScheme('https://example.com/')], ['example.com', 'example.com']);
  assert.equal(cutMiddle('abcdefghijkl', 7), 'abcd…kl');
  assert.equal(cutMiddle('abc', 7), 'abc');
});

test('numbers have at most one decimal, and shares in a column equally many', () => {
  const locale = (/** @type {number} */ value, options = {}) => new Intl.NumberFormat(undefined, options).format(value);
  const one = { style: 'percent', minimumFractionDigits: 1 };
  assert.deepEqual([number(1234.5678), number(0.25)], [locale(1234.6), locale(0.3)]);
  assert.deepEqual(percents([0.5, 0.25, 0.25]), [0.5, 0.25, 0.25].map((share) => locale(share, { style: 'percent' })));
  assert.deepEqual(percents([0.5, 1 / 3, 1 / 6]), [0.5, 0.333, 0.167].map((share) => locale(share, one)));
  assert.deepEqual([percent(1), percent(0.125)], [locale(1, { style: 'percent' }), locale(0.125, one)]);
});

test('a parameter is written into an address and leaves everything else alone', () => {
  assert.equal(withParameter('https://a.example/p', 'utm_source', 'news letter'), 'https://a.example/p?utm_source=news%20letter');
  assert.equal(withParameter('https://a.example/p?x=%2F&utm_source=old#top', 'utm_source', 'new'), 'https://a.example/p?x=%2F&utm_source=new#top');
  assert.equal(withParameter('https://a.example/p?utm_source=old', 'utm_source', ''), 'https://a.example/p');
  assert.equal(withParameter('https://a.example/#/a?b', 'utm_term', 'x'), 'https://a.example/?utm_term=x#/a?b');
});

test('an address of the list is read as far as it makes sense', () => {
  const filter = filterOf(new URLSearchParams('tag=a&tag=b&status=nonsense&from=2026-03-01&to=never&sort=clicks'));

  assert.deepEqual([filter.tags, filter.status, filter.from, filter.to, filter.sort], [['a', 'b'], '', '2026-03-01', '', 'clicks']);
  assert(!isEverything(filter) && isEverything(filterOf(new URLSearchParams('sort=clicks'))));
  assert.equal(requestOf(filter).created_after, new Date(2026, 2, 1).toISOString());
  const orderOf = (/** @type {string} */ sort) => {
    const request = requestOf(filterOf(new URLSearchParams({ sort })));
    return [request.sort, request.order];
  };
  assert.deepEqual(['', 'oldest', 'clicks', 'last_click', 'nonsense'].map(orderOf), [['created_at', 'desc'], ['created_at', 'asc'], ['clicks', 'desc'], ['last_click', 'desc'], ['created_at', 'desc']]);
});

test('archived links are listed alone, with the others, or not', () => {
  const archivedOf = (/** @type {string} */ query) => requestOf(filterOf(new URLSearchParams(query))).archived;
  assert.deepEqual(['', 'archived=true', 'archived=all', 'archived=false', 'archived=x'].map(archivedOf), ['', 'true', 'all', '', '']);
  assert(!isEverything(filterOf(new URLSearchParams('archived=all'))) && isEverything(filterOf(new URLSearchParams('archived=false'))));
});

test('tags are asked for as the API names them', () => {
  const termsOf = (/** @type {string} */ query) => requestOf(filterOf(new URLSearchParams(query))).tag;
  const filter = filterOf(new URLSearchParams('tag=Sale&tag=b&not=old'));

  assert.deepEqual(termsOf('tag=a&tag=b&not=c'), ['a', 'b', '-c']);
  assert.deepEqual(termsOf('tag=a&tag=1,5&tags=any&not=-c&not=d\\'), ['a,1\\,5', '-\\-c', '-d\\\\']);
  assert.deepEqual(termsOf('tags=any'), []);
  assert.deepEqual(withTag(filter, 'sale', 'without'), { tag: ['b'], not: ['old', 'sale'] });
  assert.deepEqual(withTag(filter, 'OLD', 'with'), { tag: ['Sale', 'b', 'OLD'], not: [] });
  assert.deepEqual(withTag(filter, 'b', 'either'), { tag: ['Sale'], not: ['old'] });
  assert(!isEverything(filterOf(new URLSearchParams('not=c'))));
});

test('contrast is what WCAG says', () => {
  assert.deepEqual(contrastOf('#000000', '#ffffff'), { ratio: 21, isDarkOnLight: true });
  assert(!contrastOf('#ffffff', '#000000').isDarkOnLight);
  assert(contrastOf('#777777', '#888888').ratio < 1.5);
});

test('a notification leads to its link, monitored URL or job, while that exists', () => {
  assert.deepEqual(pageOf({ event_type: 'url.deleted', short_code: 'TVFpvdN' }), ['links/TVFpvdN', {}, undefined]);
  assert.deepEqual(pageOf({ event_type: 'target.down', target_id: 't_7UJmGlcSOIpXh9XKQroFP8' }), ['monitoring/t_7UJmGlcSOIpXh9XKQroFP8', {}, undefined]);
  assert.deepEqual(pageOf({ event_type: 'job.finished', job_id: '019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c00' }), ['settings', { job: '019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c00' }, undefined]);
  const elsewhere = '019adcb1-5a4e-7c11-9d2f-0b6c8f3e7c01';
  assert.deepEqual(pageOf({ event_type: 'url.deleted', short_code: 'TVFpvdN', workspace_id: elsewhere }), ['links/TVFpvdN', {}, elsewhere]);
  assert.equal(pageOf({ event_type: 'url.purged', short_code: 'TVFpvdN' }), undefined);
  assert.equal(pageOf({ event_type: 'account.changed' }), undefined);
});

const APP = new URL('../app/', import.meta.url);
const SHARED = new URL('../../../shared/lambda/src/', import.meta.url);
/** Outside the application: the pages for visitors, and the sentences of the API. */
const SENTENCES = ['following/page.rs', 'http/problem.rs', 'http/error.rs'];

test('texts use the terms of words.md, and none of those that they replace', () => {
  const rows = readFileSync(new URL('words.md', APP), 'utf8').matchAll(/^\| (?!Word \|)[^|]+ \| ([^|]+) \|$/gm);
  const old = [...rows].flatMap(([, forbidden]) => forbidden.split('; '));
  const whole = new Set(old.filter((term) => /^[A-Z]\w*$/.test(term)));
  const inside = new RegExp(`(?<!\\p{L})(${old.filter((term) => !whole.has(term)).join('|')})(?!\\p{L})`, 'iu');
  const isOld = (/** @type {string} */ text) => whole.has(text) || inside.test(text);
  const modules = readdirSync(APP, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js') && !name.startsWith('vendor'));
  const texts = modules.flatMap((name) => visibleTexts(readFileSync(new URL(name, APP), 'utf8')).map((text) => `${name}: ${text}`));
  const sentences = SENTENCES.flatMap((name) => [...readFileSync(new URL(name, SHARED), 'utf8').matchAll(/"([^"\n]+)"/g)].map(([, text]) => `${name}: ${text}`));
  assert(old.length > 50 && texts.length > 1000 && sentences.length > 50);
  assert.deepEqual([...texts, ...sentences].filter((line) => isOld(line.slice(line.indexOf(': ') + 2))), []);
});
