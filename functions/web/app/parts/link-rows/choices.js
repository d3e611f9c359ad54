// What a list can be narrowed to, and how the address says so.

import { isSame } from '../../core/folding.js';

/** @typedef {import('../../pages/links/filter.js').Filter} Filter */

export const SORTS = [
  { value: 'newest', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
  { value: 'clicks', label: 'Most clicks' },
  { value: 'last_click', label: 'Last click' },
];

export const STATUSES = [
  { value: 'active', label: 'Active', isRare: false },
  { value: 'inactive', label: 'Disabled', isRare: false },
  { value: 'scheduled', label: 'Scheduled', isRare: true },
  { value: 'exhausted', label: 'Limit reached', isRare: true },
  { value: 'expired', label: 'Expired', isRare: false },
  { value: 'suspended', label: 'Suspended', isRare: true },
  { value: 'deleted', label: 'Deleted', isRare: false },
];

/** The query that takes all filters away. */
export const NO_FILTER = { q: '', status: '', archived: '', tag: [], tags: '', not: [], by: '', from: '', to: '' };

/**
 * The query in which links have a tag, or don't have it, or may have it.
 * @param {Filter} filter
 * @param {string} tag
 * @param {'with' | 'without' | 'either'} wanted
 */
export function withTag({ tags, not }, tag, wanted) {
  const others = (/** @type {string[]} */ list) => list.filter((other) => !isSame(other, tag));
  const given = (/** @type {boolean} */ isGiven) => (isGiven ? [tag] : []);
  return { tag: [...others(tags), ...given(wanted === 'with')], not: [...others(not), ...given(wanted === 'without')] };
}
