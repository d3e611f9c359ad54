import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { linesOf, placeOf } = await import('../app/parts/new-links/lines.js');

const read = (text) => linesOf(text).lines.map(({ number, url, code }) => [number, url, code]);
const mistakes = (text) => linesOf(text).wrong.map(({ number, why }) => [number, why]);

test('each line is a URL, and behind a tab a code', () => {
  const text = 'https://example.com/a\tsummer\r\n\r\n  example.com/b  \nhttps://example.com/c\t\t\rhttps://example.com/d  winter\n\t\n';

  assert.deepEqual(read(text), [
    [1, 'https://example.com/a', 'summer'],
    [3, 'https://example.com/b', ''],
    [4, 'https://example.com/c', ''],
    [5, 'https://example.com/d', 'winter'],
  ]);
  assert.deepEqual(mistakes(text), []);
  assert.deepEqual(linesOf(' \n\t\n'), { lines: [], wrong: [] });
});

test('what can’t be sent is said by line', () => {
  const text = ['https://example.com/fine', 'nonsense', 'https://example.com/a b', 'javascript:alert(1)', 'https://example.com/c\tab', 'https://example.com/d\tcode\tmore', 'https://مثال.example/e'].join('\n');

  const found = mistakes(text);

  assert.deepEqual(found.map(([number]) => number), [2, 3, 4, 5, 6]);
  const whys = found.map(([, why]) => why);
  assert.match(whys[0], /starts with http/);
  assert.match(whys[1], /can’t contain spaces/);
  assert.match(whys[3], /^The code can’t be ab. Use 4 to 20 characters/);
  assert.match(whys[4], /only a URL and a code/);
});

test('a code stands once in any case, and a URL as often as wanted', () => {
  assert.deepEqual(mistakes('https://example.com/a\tsummer\n\nhttps://example.com/b\tSummer\nhttps://example.com/a\nhttps://example.com/a'), [[3, 'Line 1 also has the code Summer.']]);
});

test('the lines beyond a hundred are too many, and empty ones don’t count', () => {
  const rows = (count) => Array.from({ length: count }, (_, index) => `https://example.com/${index}\n\n`).join('');
  assert.deepEqual(mistakes(rows(100)), []);
  assert.deepEqual(mistakes(rows(102)), [[201, 'You can create 100 links at once. These are 102.'], [203, 'You can create 100 links at once. These are 102.']]);
});

test('a line is found in the text that a field has', () => {
  const text = 'first\n\nthird';
  const shown = (number) => text.slice(placeOf(text, number).from, placeOf(text, number).to);
  assert.deepEqual([1, 2, 3].map(shown), ['first', '', 'third']);
});
