import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { isShort } = await import('../app/parts/short-link/shorteners.js');

test('the destinations of links of known shorteners are offered, and of no others', () => {
  for (const url of ['https://bit.ly/3rust', 'http://WWW.TinyURL.com/y', 'https://acme.short.gy/a?b', 'https://t.co/x#y']) {
    assert.equal(isShort(url), true, url);
  }
  for (const url of ['https://bit.ly/', 'https://bit.ly', 'https://notbit.ly/x', 'https://bit.ly.example/x', 'https://example.com/bit.ly/x', 'http://[::1]/x']) {
    assert.equal(isShort(url), false, url);
  }
});
