// Short messages at the edge that go away by themselves; screen readers hear them.

import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { createStore, useStore } from '../core/store.js';
import { Button } from './button.js';

/** @typedef {{ label: string, act: () => void }} ToastAction */
/** @typedef {{ id: number, text: string, tone: 'plain' | 'bad', actions: ToastAction[], many?: string, count: number }} Toast */

const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTIONS_MS = 12_000;
const AT_MOST = 3;

const toasts = createStore({ list: /** @type {Toast[]} */ ([]) });
let next = 0;

/**
 * @param {string} text a sentence
 * @param {{ tone?: 'plain' | 'bad', actions?: ToastAction[], many?: string }} [options] with `many`, such as `links created`, it joins the one before, and so do their last actions
 */
export function toast(text, { tone = 'plain', actions = [], many } = {}) {
  const { list } = toasts.get();
  const before = many && list.find((one) => one.many === many);
  const shown = { id: (next += 1), text, tone, actions, many, count: 1 };
  if (before) {
    const [first, last] = [before, shown].map((one) => one.actions[one.actions.length - 1]);
    const both = () => [first, last].forEach(({ act }) => act());
    Object.assign(shown, { count: before.count + 1, text: `${before.count + 1} ${many}.`, actions: last ? [{ label: last.label, act: both }] : [] });
  }
  toasts.set({ list: [...list.filter((one) => one !== before), shown].slice(-AT_MOST) });
}

/**
 * Says what has failed.
 * @param {string} what such as `The link wasn’t changed.`
 * @param {unknown} error
 */
export function toastFailure(what, error) {
  toast(`${what} ${error instanceof Error ? error.message : ''}`.trim(), { tone: 'bad' });
}

/** Shows toasts in the dialog that has just been opened, or where one was closed. */
export const moveToasts = () => toasts.set({});

/** @param {number} id */
const dismiss = (id) => toasts.set({ list: toasts.get().list.filter((one) => one.id !== id) });

/** Where toasts are shown; part of the frame and of each dialog, since nothing beside an open one can be heard or used. */
export function Toasts() {
  const { list } = useStore(toasts);
  const [isNear, setNear] = useState(false);
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const dialogs = [null, ...document.querySelectorAll('dialog:modal')];
    const isIn = region.current?.closest('dialog') === dialogs[dialogs.length - 1];
    region.current?.togglePopover?.(isIn);
    setNear(isIn);
  });
  return html`<div class="toasts" ref=${region} popover="manual" role="status" aria-live="polite" aria-atomic="false">
    ${isNear && list.map((one) => html`<${ToastView} key=${one.id} ...${one} />`)}
  </div>`;
}

/** @param {Toast} props */
function ToastView({ id, text, tone, actions }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => dismiss(id), actions.length > 0 ? SHOWN_WITH_ACTIONS_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld]);
  const act = (/** @type {ToastAction} */ action) => () => {
    dismiss(id);
    action.act();
  };
  const hold = (/** @type {boolean} */ held) => () => setHeld(held);
  return html`<div
    class=${`toast ${tone}`}
    onMouseEnter=${hold(true)}
    onMouseLeave=${hold(false)}
    onFocusIn=${hold(true)}
    onFocusOut=${hold(false)}
  >
    <p id=${`toast-${id}`}>${text}</p>
    ${actions.map((action) => html`<${Button} kind="quiet" aria-describedby=${`toast-${id}`} onClick=${act(action)}>${action.label}<//>`)}
    <${Button} kind="quiet" icon="close" label="Dismiss" onClick=${() => dismiss(id)} />
  </div>`;
}
