// Days as an address has them, such as `2026-03-02`. They are the visitor's, so the API is given moments.

import { DAY_MS } from './format.js';

/** The day that stands there; nothing if it is none. @param {string | null} text */
export const dayIn = (text) => (text && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '');

/** @param {string} day */
export const beginningOf = (day) => (day ? new Date(`${day}T00:00:00`).toISOString() : '');

/** @param {string} day */
export const endOf = (day) => (day ? new Date(`${day}T23:59:59.999`).toISOString() : '');

const YEAR_DAYS = 365;

/** The year that ends today, in UTC's days: of the clicks of older ones nobody knows. */
export function lastYear() {
  const dayOf = (/** @type {number} */ time) => new Date(time).toISOString().slice(0, 10);
  const today = Date.now();
  return { from: dayOf(today - (YEAR_DAYS - 1) * DAY_MS), to: dayOf(today) };
}
