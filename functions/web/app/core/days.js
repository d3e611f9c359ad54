// Days as an address has them, such as `2026-03-02`. They are the visitor's, so the API is given moments.

/** The day that stands there; nothing if it is none. @param {string | null} text */
export const dayIn = (text) => (text && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '');

/** @param {string} day */
export const beginningOf = (day) => (day ? new Date(`${day}T00:00:00`).toISOString() : '');

/** @param {string} day */
export const endOf = (day) => (day ? new Date(`${day}T23:59:59.999`).toISOString() : '');
