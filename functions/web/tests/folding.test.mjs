import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import './browser.mjs';

const { folded, isSame, searched } = await import('../app/core/folding.js');

/** Texts that the API's own tests compare, too. */
const CASES = JSON.parse(readFileSync(new URL('../../../shared/domain/src/folding/cases.json', import.meta.url), 'utf8'));

test('texts are the same in any case and form, as for the API', () => {
  for (const [first, ...others] of CASES.same) for (const other of others) assert(isSame(first, other), `${first} ${other}`);
  for (const [one, other] of CASES.different) assert(!isSame(one, other), `${one} ${other}`);
  assert(isSame(' Café ', 'CAFE\u0301') && !isSame(undefined, ''));
});

test('a search disregards accents, as for the API', () => {
  for (const [text, known] of CASES.found) assert(searched(known).includes(searched(text)), `${text} in ${known}`);
});

test('what is folded stays as it is', () => {
  const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
  const assigned = characters.filter((character) => !/[\p{Cn}\p{Co}\p{Cs}]/u.test(character));
  const changed = assigned.filter((character) => {
    const once = folded(character);
    return folded(once) !== once || folded(character.toLowerCase()) !== once;
  });
  assert.deepEqual(changed, []);
});
