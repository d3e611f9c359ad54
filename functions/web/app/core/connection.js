// Whether the API can be reached.

import { apiUrl } from './address.js';
import { createStore } from './store.js';

const ASK_AGAIN_MS = 4_000;

export const connection = createStore({ isOnline: true });

/** @type {ReturnType<typeof setTimeout> | undefined} */
let asking;

/** Called when a request got no answer: asks until there is one. */
export function lostConnection() {
  connection.set({ isOnline: false });
  asking ??= setTimeout(askAgain, ASK_AGAIN_MS);
}

async function askAgain() {
  asking = undefined;
  try {
    await fetch(apiUrl('/health'), { cache: 'no-store' });
    connection.set({ isOnline: true });
  } catch {
    lostConnection();
  }
}

/** Listens to what the browser knows about the network. */
export function watchConnection() {
  addEventListener('offline', lostConnection);
  addEventListener('online', () => {
    clearTimeout(asking);
    askAgain();
  });
}
