// What was paused, since somebody else may have made it: an admin keeps or removes it.

import { html } from '../../vendor/preact.js';
import { counted, fullTime } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { Notice } from '../../ui/states.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** What is paused comes first, since somebody has to decide about it. @template {{ paused_at: string | null }} T @param {T[]} list */
export const pausedFirst = (list) => [...list.filter((one) => one.paused_at), ...list.filter((one) => !one.paused_at)];

/** @param {{ at: string | null }} props */
export const PausedMark = ({ at }) => at && html`<${Status} tone="warn" title=${`Since ${fullTime(at)}`}>Paused<//>`;

/**
 * Above a list: how many are paused, and why.
 * @param {{ list: { paused_at: string | null }[], what: string, children: unknown }} props `what` is the word for one of them
 */
export function PausedNotice({ list, what, children }) {
  const count = list.filter((one) => one.paused_at).length;
  if (count === 0) return null;
  return html`<${Notice} tone="warn"><p><strong>${counted(count, what)} ${count === 1 ? 'is' : 'are'} paused.</strong> ${children}</p><//>`;
}

/** What one decides about a row that is paused. @param {{ name: string, removal: string, onKeep: () => void, onRemove: () => void }} props */
export function KeepOrRemove({ name, removal, onKeep, onRemove }) {
  return html`<span class="decision">
    <${Button} class="compact keep" onClick=${onKeep}>Keep<span class="hidden"> ${name}</span><//>
    <${Button} class="compact" onClick=${onRemove}>${removal}<span class="hidden"> ${name}</span><//>
  </span>`;
}

/**
 * Keeps something: shown at once, and taken back if the API refuses it.
 * @param {object} change
 * @param {{ paused_at: string | null }} change.kept what it was
 * @param {(pausedAt: string | null) => void} change.show
 * @param {() => Promise<unknown>} change.send
 * @param {string} change.done what to say then
 * @param {string} change.failed
 */
export async function keepPaused({ kept, show, send, done, failed }) {
  show(null);
  focusNext();
  try {
    await send();
    toast(done);
  } catch (error) {
    show(kept.paused_at);
    toastFailure(failed, error);
  }
}

/** The button that was pressed is gone: the next one takes the focus, or else the heading. */
function focusNext() {
  setTimeout(() => {
    const next = document.querySelector('main .keep') ?? document.querySelector('main h1');
    /** @type {HTMLElement | null} */ (next)?.focus();
  });
}
