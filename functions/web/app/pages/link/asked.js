// Which values of clicks an address asks for.

import { KINDS } from '../../parts/panels/kinds.js';

/** @typedef {import('../../parts/times/answer.js').Filter} Filter */

/** @param {URLSearchParams} query @returns {Filter} */
export function filterOf(query) {
  const pairs = KINDS.map(({ name }) => [name, [...new Set(query.getAll(name))].filter(Boolean)]);
  return Object.fromEntries(pairs.filter(([, values]) => values.length > 0));
}

/** What is asked for, in words. @param {Filter} filter */
export const chosenIn = (filter) => KINDS.flatMap((kind) => (filter[kind.name] ?? []).map((value) => `${kind.one}: ${kind.nameOf(value)}`));

/** Without what is asked of one kind. @param {Filter} filter @param {string} name @returns {Filter} */
export function filterWithout(filter, name) {
  const { [name]: _, ...others } = filter;
  return others;
}

/** The values of a kind with one more, or without it if it is there. @param {Filter} filter @param {string} name @param {string} value */
export function toggled(filter, name, value) {
  const values = filter[name] ?? [];
  return values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
}
