// State that several parts of the application share.

import { useEffect, useState } from '../vendor/preact.js';

/**
 * @template T
 * @typedef {object} Store
 * @property {() => T} get
 * @property {(change: Partial<T>) => void} set
 * @property {(listener: () => void) => () => void} subscribe
 */

/**
 * @template {object} T
 * @param {T} initial
 * @returns {Store<T>}
 */
export function createStore(initial) {
  let state = initial;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => state,
    set(change) {
      state = { ...state, ...change };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * The state of a store; the component is drawn again when it changes.
 * @template T
 * @param {Store<T>} store
 * @returns {T}
 */
export function useStore(store) {
  const [state, setState] = useState(store.get);
  useEffect(() => {
    setState(store.get);
    return store.subscribe(() => setState(store.get));
  }, [store]);
  return state;
}
