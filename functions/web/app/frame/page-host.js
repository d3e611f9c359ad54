// Loads the module of a page when it is shown first, and moves the focus to its heading.

import { html, useEffect, useErrorBoundary, useRef, useState } from '../vendor/preact.js';
import { ApiError } from '../core/api.js';
import { connection } from '../core/connection.js';
import { href, route, scrolledBefore } from '../core/router.js';
import { useStore } from '../core/store.js';
import { reloadIfOutdated } from '../core/version.js';
import { Button } from '../ui/button.js';
import { Page } from '../ui/page.js';
import { Failure, Skeleton } from '../ui/states.js';

const RESTORE_WITHIN_MS = 1_000;
const BY_PEOPLE = ['keydown', 'pointerdown'];

/** @param {{ page: import('../pages.js').PageEntry | undefined }} props */
export function PageHost({ page }) {
  const { path } = useStore(route);
  const [loaded, setLoaded] = useState(/** @type {{ page?: object, component?: any, failed?: boolean }} */ ({}));
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    if (!page) return undefined;
    let isCurrent = true;
    const take = (/** @type {object} */ state) => isCurrent && setLoaded({ page, ...state });
    page.load().then(
      (module) => take({ component: module[page.component] }),
      async () => (await reloadIfOutdated()) || take({ failed: true }),
    );
    return () => {
      isCurrent = false;
    };
  }, [page, attempt]);

  const { isOnline } = useStore(connection);
  useEffect(() => {
    if (isOnline && loaded.failed) setAttempt(attempt + 1);
  }, [isOnline]);

  const isReady = loaded.page === page && loaded.component !== undefined;
  useArrival(path, isReady);

  // Some browsers remember for as long as the page is open that a file couldn't be loaded.
  const retry = () => (attempt > 0 && isOnline ? location.reload() : setAttempt(attempt + 1));
  if (!page) return html`<${NotFound} />`;
  if (loaded.page === page && loaded.failed) {
    const [what, why] = isOnline ? ['Couldn’t load this page.', 'Its files didn’t load.'] : ['You’re offline.', 'This page loads once you’re back online.'];
    return html`<${Page} title=${page.title}><${Failure} what=${what} error=${new ApiError('offline', why)} retry=${retry} /><//>`;
  }
  if (!isReady) return html`<${Page} title=${page.title}><${Skeleton} rows=${5} height=${56} /><//>`;
  return html`<${Guarded} key=${path || 'links'}><${loaded.component} /><//>`;
}

/**
 * After a navigation, the heading has the focus, and the view is where it was when one left it.
 * @param {string} path
 * @param {boolean} isReady
 */
function useArrival(path, isReady) {
  const arrivedAt = useRef(/** @type {string | undefined} */ (undefined));
  useEffect(() => {
    if (!isReady || arrivedAt.current === path) return undefined;
    const isFirst = arrivedAt.current === undefined;
    arrivedAt.current = path;
    const release = isFirst ? () => {} : focusHeading();
    const wanted = scrolledBefore() ?? 0;
    const until = Date.now() + RESTORE_WITHIN_MS;
    let frame = 0;
    // What is above may not have been loaded yet.
    const restore = () => {
      scrollTo(0, wanted);
      if (Math.abs(scrollY - wanted) > 1 && Date.now() < until) frame = requestAnimationFrame(restore);
    };
    restore();
    return () => {
      release();
      cancelAnimationFrame(frame);
    };
  }, [path, isReady]);
}

/**
 * Gives the form's first field or the heading the focus, also if it is drawn anew, until somebody does something.
 * @returns {() => void} ends it
 */
function focusHeading() {
  const main = /** @type {HTMLElement} */ (document.querySelector('main'));
  const focus = () => /** @type {HTMLElement | null} */ (main.querySelector('[autofocus]') ?? main.querySelector('h1'))?.focus({ preventScroll: true });
  const observer = new MutationObserver(() => document.activeElement?.matches('body, h1') && focus());
  const release = () => {
    observer.disconnect();
    for (const type of BY_PEOPLE) removeEventListener(type, release, true);
  };
  for (const type of BY_PEOPLE) addEventListener(type, release, true);
  observer.observe(main, { childList: true, subtree: true });
  focus();
  return release;
}

/** Keeps a mistake in a page from taking the frame with it. @param {{ children?: unknown }} props */
function Guarded({ children }) {
  const [error, reset] = useErrorBoundary((mistake) => console.error(mistake));
  if (!error) return children;
  return html`<${Page} title="Something went wrong">
    <p>This page ran into a problem. Your data is safe.</p>
    <p><${Button} onClick=${reset}>Try again<//> <${Button} kind="quiet" onClick=${() => location.reload()}>Reload<//></p>
  <//>`;
}

function NotFound() {
  return html`<${Page} title="Page not found">
    <p>Check the address, or go to <a href=${href('links')}>your links</a>.</p>
  <//>`;
}
