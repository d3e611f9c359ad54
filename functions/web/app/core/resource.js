// What was read from the API: kept while the page is open, shown at once, and read again behind that.

import { useEffect, useRef, useState } from '../vendor/preact.js';
import { onComingBack } from './coming-back.js';
import { connection } from './connection.js';

/**
 * @typedef {object} Entry
 * @property {any} [data]
 * @property {any} [error]
 * @property {number} readAt when it was read last
 * @property {Promise<void>} [running]
 * @property {Set<() => void>} listeners
 * @property {() => Promise<any>} [load]
 */

/** @type {Map<string, Entry>} */
const entries = new Map();

/** @param {string} key */
function entryOf(key) {
  let entry = entries.get(key);
  if (!entry) entries.set(key, (entry = { readAt: 0, listeners: new Set() }));
  return entry;
}

/** @param {Entry} entry */
const tell = (entry) => entry.listeners.forEach((listener) => listener());

/** @param {Entry} entry */
function refresh(entry) {
  entry.running ??= readInto(entry).finally(() => {
    entry.running = undefined;
    tell(entry);
  });
  return entry.running;
}

/** @param {Entry} entry */
async function readInto(entry) {
  try {
    entry.data = await entry.load?.();
    entry.error = undefined;
    entry.readAt = Date.now();
  } catch (error) {
    entry.error = error;
  }
}

/**
 * @template T
 * @typedef {object} Resource
 * @property {T | undefined} data what was read last, also if reading it again has failed
 * @property {import('./api.js').ApiError | undefined} error why the last reading failed
 * @property {boolean} isLoading
 * @property {number} readAt when it was read last
 * @property {() => Promise<void>} reload
 * @property {(change: (data: T) => T) => void} change shows something else until it is read again
 */

/**
 * Something of the API under a key that says what it is, such as `link:TVFpvdN`. Without a key nothing is read.
 * @template T
 * @param {string | null} key
 * @param {() => Promise<T>} load
 * @param {{ everyMs?: number, freshMs?: number }} [options] how often it is read again while the page is visible, and for how long it isn't when it is shown anew
 * @returns {Resource<T>}
 */
export function useResource(key, load, { everyMs, freshMs = 0 } = {}) {
  const [, redraw] = useState(0);
  const entry = key === null ? undefined : entryOf(key);
  const loader = useRef(load);
  loader.current = load;

  useEffect(() => {
    if (!entry) return undefined;
    const listener = () => redraw((count) => count + 1);
    entry.listeners.add(listener);
    entry.load = () => loader.current();
    if (entry.data === undefined || Date.now() - entry.readAt >= freshMs) refresh(entry);
    listener();
    return () => {
      entry.listeners.delete(listener);
    };
  }, [entry]);

  useEffect(() => {
    if (!entry || !everyMs) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && refresh(entry), everyMs);
    return () => clearInterval(timer);
  }, [entry, everyMs]);

  return {
    data: entry?.data,
    error: entry?.error,
    isLoading: entry !== undefined && entry.data === undefined && entry.error === undefined,
    readAt: entry?.readAt ?? 0,
    reload: () => (entry ? refresh(entry) : Promise.resolve()),
    change(change) {
      if (entry?.data === undefined) return;
      entry.data = change(entry.data);
      tell(entry);
    },
  };
}

/**
 * Reads again what is shown and begins with this, and forgets it where it isn't shown.
 * @param {string} prefix
 */
export function invalidate(prefix) {
  for (const [key, entry] of entries) {
    if (!key.startsWith(prefix)) continue;
    if (entry.listeners.size > 0) refresh(entry);
    else entries.delete(key);
  }
}

/** Forgets everything: it was another person's, or another workspace's. */
export function forgetResources() {
  for (const [key, entry] of entries) {
    if (entry.listeners.size === 0) entries.delete(key);
    entry.data = undefined;
    entry.error = undefined;
    tell(entry);
  }
}

onComingBack(() => {
  for (const entry of entries.values()) if (entry.listeners.size > 0) refresh(entry);
});
connection.subscribe(() => {
  if (!connection.get().isOnline) return;
  for (const entry of entries.values()) if (entry.error && entry.listeners.size > 0) refresh(entry);
});
