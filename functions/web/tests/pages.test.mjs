import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import './browser.mjs';

const application = new URL('../app/', import.meta.url);
const { PAGES } = await import('../app/pages.js');

test('no two pages have the same key', () => {
  const keys = PAGES.flatMap(({ key }) => key ?? []);
  assert.deepEqual(keys, [...new Set(keys)]);
});

test('the styles of each page and part are among all styles, or it loads them', () => {
  const all = readFileSync(new URL('styles/app.css', application), 'utf8');
  const isLoaded = (/** @type {string} */ path) => readFileSync(new URL(path.replace(/css$/, 'js'), application), 'utf8').includes(`new URL('./${path.split('/').at(-1)}', import.meta.url)`);
  for (const folder of ['pages', 'parts']) {
    const files = readdirSync(new URL(folder, application), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.css'));
    assert(files.length > 0);
    for (const file of files) assert(all.includes(`@import url("../${folder}/${file}");`) !== isLoaded(`${folder}/${file}`), `${folder}/${file}`);
  }
});
