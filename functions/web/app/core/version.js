// Notices that another version was deployed, and loads it when nobody is in the middle of something.

import { lostConnection } from './connection.js';
import { route } from './router.js';

const ASK_EVERY_MS = 5 * 60_000;
const RELOAD_AT_MOST_EVERY_MS = 30_000;
const RELOADED_AT = 'linklet:reloaded-at';

const shown = document.querySelector('meta[name=version]')?.getAttribute('content') ?? 'source';
let isOutdated = false;
let askedAt = Date.now();

/** @type {Set<() => boolean>} */
const unsaved = new Set();

/**
 * Keeps the page from loading itself again while this says that something would be lost.
 * @param {() => boolean} hasChanges
 * @returns {() => void} ends it
 */
export function guardChanges(hasChanges) {
  unsaved.add(hasChanges);
  return () => void unsaved.delete(hasChanges);
}

export const hasUnsavedChanges = () => [...unsaved].some((hasChanges) => hasChanges());

function isBusy() {
  const active = document.activeElement;
  const isTyping = active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement ? active.value !== '' : false;
  return isTyping || hasUnsavedChanges() || document.querySelector('dialog[open]') !== null;
}

/**
 * Loads the page again if another version was deployed, and the files of this one are gone.
 * @returns {Promise<boolean>} whether it does
 */
export async function reloadIfOutdated() {
  await askForVersion();
  return isOutdated && reloadIfPossible();
}

/**
 * Loads the page again, unless something would be lost or it has just done so.
 * @returns {boolean} whether it does
 */
function reloadIfPossible() {
  const reloadedAt = Number(sessionStorage.getItem(RELOADED_AT));
  if (isBusy() || Date.now() - reloadedAt < RELOAD_AT_MOST_EVERY_MS) return false;
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  location.reload();
  return true;
}

async function askForVersion() {
  askedAt = Date.now();
  const page = await fetch(document.baseURI.split('#')[0], { cache: 'no-cache' }).catch(lostConnection);
  const text = page?.ok ? await page.text() : '';
  const current = /<meta name="version" content="([0-9a-f]+)">/.exec(text)?.[1];
  isOutdated = current !== undefined && current !== shown;
}

/** Asks now and then; loads the new version when the page is hidden or another view is shown. */
export function watchVersion() {
  if (shown === 'source') return;
  setInterval(askForVersion, ASK_EVERY_MS);
  document.addEventListener('visibilitychange', async () => {
    const isVisible = document.visibilityState === 'visible';
    if (isVisible && Date.now() - askedAt > ASK_EVERY_MS) await askForVersion();
    if (isOutdated) reloadIfPossible();
  });
  let path = route.get().path;
  route.subscribe(() => {
    const isOther = route.get().path !== path;
    path = route.get().path;
    if (isOutdated && isOther) reloadIfPossible();
  });
  addEventListener('beforeunload', (event) => hasUnsavedChanges() && event.preventDefault());
}
