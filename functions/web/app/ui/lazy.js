// A component that is loaded when it is needed first.

import { html, useEffect, useState } from '../vendor/preact.js';
import { connection } from '../core/connection.js';
import { reloadIfOutdated } from '../core/version.js';
import { toast } from './toast.js';

/**
 * @param {{ load: () => Promise<any>, name: string, waiting?: unknown, onFailure?: () => void }} props `name` is the component's in its module; all else is handed to it
 */
export function Lazy({ load, name, waiting = null, onFailure, ...props }) {
  const [module, setModule] = useState(/** @type {any} */ (undefined));
  useEffect(() => {
    load().then(setModule, async () => {
      if (!(await reloadIfOutdated())) toast(connection.get().isOnline ? 'Couldn’t load this. Try again in a moment.' : 'You’re offline. Try again once you’re back online.', { tone: 'bad' });
      onFailure?.();
    });
  }, []);
  return module ? html`<${module[name]} ...${props} />` : waiting;
}

const LATER_MS = 2_000;

/** By what loads it. @type {Map<() => Promise<any>, any>} */
const loadedLater = new Map();

/**
 * A component that is loaded once the page has been there for a while, since nobody waits for it or misses it.
 * @param {{ load: () => Promise<any>, name: string }} props
 */
export function Later({ load, name, ...props }) {
  const [module, setModule] = useState(loadedLater.get(load));
  useEffect(() => {
    if (module) return undefined;
    const take = (/** @type {any} */ taken) => {
      loadedLater.set(load, taken);
      setModule(taken);
    };
    const timer = setTimeout(() => load().then(take, () => {}), LATER_MS);
    return () => clearTimeout(timer);
  }, []);
  return module ? html`<${module[name]} ...${props} />` : null;
}
