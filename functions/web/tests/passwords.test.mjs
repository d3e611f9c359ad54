import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import './browser.mjs';

const { strengthOf } = await import('../app/parts/strength/strength.js');

const APP = new URL('../app/', import.meta.url);
const sources = readdirSync(APP, { recursive: true }).filter((path) => path.endsWith('.js') && !path.startsWith('vendor'));
const passwordFields = sources.flatMap((path) => {
  const found = readFileSync(new URL(path, APP), 'utf8').match(/<[^<>]*type="password"[^<>]*>/g) ?? [];
  return found.map((field) => ({ path, field }));
});

test('a longer password is stronger, and what continues a row adds nothing', () => {
  for (const [password, word] of [
    ['', 'Too short'],
    ['horse', 'Too short'],
    ['cafe\u0301 ho', 'Too short'],
    ['hxrse btt', 'Weak'],
    ['hxrseqbttzrk', 'Fair'],
    ['hxrseqbttzrkwpm', 'Strong'],
    ['correct horse battery', 'Strong'],
    ['äöüß äöüß äöüß äöüß', 'Strong'],
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'Weak'],
    ['abcdefghijklmnopqrstuvwxyz', 'Weak'],
    ['13579246801357924680', 'Weak'],
    ['password1password1password1', 'Weak'],
    ['👩👩👩👩👩👩👩👩👩👩👩👩👩👩👩👩', 'Weak'],
  ]) {
    assert.equal(strengthOf(password).word, word, password);
  }
});

test('a strength is a level that the meter has', () => {
  assert.deepEqual(['short', 'hxrse btt', 'hxrseqbttzrk', 'hxrseqbttzrkwpm'].map((password) => strengthOf(password).level), [0, 1, 2, 3]);
});

test('password managers know which password a field is for', () => {
  assert.ok(passwordFields.length >= 8, `${passwordFields.length} fields`);
  for (const { path, field } of passwordFields) {
    assert.match(field, /autocomplete="(current|new)-password"/, path);
  }
});

test('no field for a password keeps anything from being pasted', () => {
  for (const { path, field } of passwordFields) {
    assert.doesNotMatch(field, /onPaste|onBeforeInput|onKeyDown/, path);
  }
});
