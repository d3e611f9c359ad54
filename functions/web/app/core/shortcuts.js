// Keys that do something anywhere on a page, while nothing is being typed.

import { useEffect } from '../vendor/preact.js';

/**
 * @typedef {object} Shortcut
 * @property {string} keys a key, or two after each other: `g l`; with `MOD` before it, it works in fields, too
 * @property {string} [or] another key that does the same
 * @property {string} text
 * @property {() => void} [act] none if the browser does it
 * @property {(focused: Element | null) => boolean} [isOffered] whether the palette has it, too; without, it has
 */

/** The key that is held with another one. */
export const MOD = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl';

const SEQUENCE_MS = 1_000;

/** @type {Set<{ group: string, list: Shortcut[] }>} */
const groups = new Set();
let first = '';
let firstAt = 0;

/** What is bound at the moment, for the list of keys. Parts of a page that name the same group are one. */
export function shortcutGroups() {
  /** @type {Map<string, Shortcut[]>} */
  const lists = new Map();
  for (const { group, list } of groups) lists.set(group, [...(lists.get(group) ?? []), ...list]);
  return [...lists].filter(([, list]) => list.length > 0).map(([group, list]) => ({ group, list }));
}

/**
 * Binds keys while the component is shown.
 * @param {string} group under what the list of keys names them
 * @param {Shortcut[]} list
 */
export function useShortcuts(group, list) {
  useEffect(() => {
    const bound = { group, list };
    groups.add(bound);
    return () => {
      groups.delete(bound);
    };
  });
}

/** @param {KeyboardEvent} event */
function isTyping(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  // No URL begins with it.
  if (event.key === '?' && target.matches('[type=url]:placeholder-shown')) return false;
  return target.matches(BOX) ? event.key === ' ' : takesText(target);
}

const BOX = 'input[type=checkbox], input[type=radio]';

/** Whether what is typed or pasted goes into it. @param {HTMLElement} element */
const takesText = (element) => (element.matches('input, textarea, select') && !element.matches(BOX)) || element.isContentEditable;

/**
 * Hears of a text that is pasted while nothing takes it.
 * @param {(text: string) => boolean} take whether it is of use
 */
export function usePaste(take) {
  useEffect(() => {
    const onPaste = (/** @type {ClipboardEvent} */ event) => {
      if ((event.target instanceof HTMLElement && takesText(event.target)) || document.querySelector('dialog[open]')) return;
      if (take(event.clipboardData?.getData('text/plain').trim() ?? '')) event.preventDefault();
    };
    addEventListener('paste', onPaste);
    return () => removeEventListener('paste', onPaste);
  });
}

addEventListener('keydown', (event) => {
  const held = `${event.ctrlKey ? 'Ctrl' : ''}${event.metaKey ? '⌘' : ''}`;
  if (event.defaultPrevented || event.altKey || (held && (held !== MOD || event.shiftKey))) return;
  if (document.querySelector(`dialog[open]${held && ':is([closedby=none], :has(form))'}`)) return;
  // Out of the field, keys do something again.
  if (!held && isTyping(event)) return event.key === 'Escape' ? /** @type {HTMLElement} */ (event.target).blur() : undefined;
  const key = held ? `${held} ${event.key.toUpperCase()}` : event.key;
  const sequence = Date.now() - firstAt < SEQUENCE_MS && first ? `${first} ${key}` : '';
  const all = [...groups].reverse().flatMap(({ list }) => list).filter(({ act }) => act);
  const found = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys, or }) => keys === key || or === key);
  [first, firstAt] = [key, Date.now()];
  if (!found?.act) return;
  event.preventDefault();
  first = '';
  found.act();
});
