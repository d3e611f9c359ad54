// When somebody comes back to the window: what it shows may have changed meanwhile.

import { connection } from './connection.js';

/** @type {Set<() => void>} */
const listeners = new Set();
// A window that gets the focus late while it is loaded shows what has just been read: nobody was elsewhere.
let isAway = document.hidden;

/** @param {() => void} listener @returns {() => void} ends it */
export function onComingBack(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const leave = () => void (isAway = true);

function comeBack() {
  if (!isAway || document.hidden || !connection.get().isOnline) return;
  isAway = false;
  for (const listener of [...listeners]) listener();
}

/** Listens to the browser. Phones show a page again without giving it the focus. */
export function watchComingBack() {
  addEventListener('blur', leave);
  addEventListener('focus', comeBack);
  document.addEventListener('visibilitychange', () => (document.hidden ? leave() : comeBack()));
}
