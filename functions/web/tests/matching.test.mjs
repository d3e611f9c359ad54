import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { piecesOf, rankOf, ranked, wordsOf } = await import('../app/parts/palette/matching.js');

const labels = (text, ...items) => ranked(items.map((label) => ({ label })), text).map(({ label }) => label);

test('names that begin with the query come first, then words, then parts', () => {
  assert.deepEqual(labels('spring', 'Offspring', 'Our spring sale', 'Spring sale', 'Winter'), ['Spring sale', 'Our spring sale', 'Offspring']);
  assert.deepEqual(labels('spring-s', 'Our spring-sale', 'Spring-sale'), ['Spring-sale', 'Our spring-sale']);
});

test('all words must be there, in any order', () => {
  assert.deepEqual(labels('sale spr', 'Spring sale', 'Winter sale', 'Spring'), ['Spring sale']);
  assert.equal(rankOf(wordsOf('sale docs'), 'Spring sale', 'https://docs.example.com/'), 3);
  assert.equal(rankOf(wordsOf('sale rust'), 'Spring sale', 'https://docs.example.com/'), Infinity);
});

test('several words are asked for as they are, and by the rarest of them', () => {
  assert.deepEqual(piecesOf('spring'), ['spring']);
  assert.deepEqual(piecesOf('launch 7777'), ['launch 7777', '7777']);
  assert.deepEqual(piecesOf('sale  spring'), ['sale spring', 'spring']);
});

test('accents and case make no difference', () => {
  assert.deepEqual(labels('ete a', 'Été à Genève', 'Été'), ['Été à Genève']);
  assert.deepEqual(labels('ÉTÉ', 'ete'), ['ete']);
});

test('nothing that is looked for fits everything, in the order it has', () => {
  assert.deepEqual(labels(' ', 'b', 'a'), ['b', 'a']);
});
