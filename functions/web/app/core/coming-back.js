// When somebody comes back to the window: what it shows may have changed meanwhile.

import { connection } from './connection.js';

/** Windows get the focus twice when one changes to and fro. */
const AT_MOST_EVERY_MS = 1_000;

/** @type {Set<() => void>} */
const listeners = new Set();
// A window that gets the focus while it is loaded shows what has just been read.
let toldAt = Date.now();

/** @param {() => void} listener @returns {() => void} ends it */
export function onComingBack(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function comeBack() {
  if (document.visibilityState === 'hidden' || !connection.get().isOnline || Date.now() - toldAt < AT_MOST_EVERY_MS) return;
  toldAt = Date.now();
  for (const listener of [...listeners]) listener();
}

/** Listens to the browser. Phones show a page again without giving it the focus. */
export function watchComingBack() {
  addEventListener('focus', comeBack);
  document.addEventListener('visibilitychange', comeBack);
}
