// What is at stake when links are deleted, in numbers.

import { counted, number } from '../../core/format.js';

/** @typedef {Pick<import('../../core/lists.js').Link, 'short_code' | 'total_clicks'>} CountedLink */

/** Above, one has to type what is deleted. */
const TYPED_FROM_CLICKS = 100;

/** The clicks of some links in words; not all may be known. @param {CountedLink[]} links */
export function clicksOf(links) {
  const known = links.flatMap(({ total_clicks: clicks }) => clicks ?? []);
  const sum = known.reduce((total, clicks) => total + clicks, 0);
  if (known.length === links.length) return counted(sum, 'click');
  return sum > 0 ? `at least ${counted(sum, 'click')}` : 'an unknown number of clicks';
}

/**
 * What has to be typed before they are deleted: the code of one, or how many they are; nothing if few clicks are at stake.
 * @param {CountedLink[]} links
 */
export function typedFor(links) {
  const isKnown = links.every(({ total_clicks: clicks }) => clicks !== null);
  const sum = links.reduce((total, { total_clicks: clicks }) => total + (clicks ?? 0), 0);
  if (isKnown && sum <= TYPED_FROM_CLICKS) return undefined;
  return links.length === 1 ? links[0].short_code : number(links.length);
}
