// Changes of what others may change at the same time.

import { ApiError } from '../../core/api.js';

const ATTEMPTS = 3;
const STALE = 412;

/**
 * Sends changes, unless somebody has changed the same members since they were shown. Then the error names these, and the next
 * attempt replaces them.
 * @template T
 * @template {Record<string, unknown>} M
 * @param {{ current: T }} shown what the form was filled with, or what its last error was about
 * @param {object} how
 * @param {Record<string, string>} how.members the names of the members that are to be changed
 * @param {(thing: T) => M} how.valuesOf
 * @param {() => Promise<import('../../core/api.js').Tagged<T>>} how.read
 * @param {(tag: string | undefined) => Promise<T>} how.send
 * @returns {Promise<T>}
 */
export async function changeUnlessOvertaken(shown, { members, valuesOf, read, send }) {
  for (let attempt = 1; ; attempt += 1) {
    const { body: now, tag } = await read();
    const [before, after] = [valuesOf(shown.current), valuesOf(now)];
    shown.current = now;
    const changed = Object.keys(members).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    if (changed.length > 0) throw overtaken(changed.map((name) => members[name]));
    try {
      return await send(tag);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== STALE || attempt === ATTEMPTS) throw error;
    }
  }
}

/** @param {string[]} names */
function overtaken(names) {
  const detail = `Someone else has changed this: ${names.join(', ')}. Save again to overwrite it.`;
  return new ApiError('problem', detail, { status: STALE, code: 'precondition_failed' });
}
