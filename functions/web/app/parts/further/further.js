// A list that the API gives part by part: its beginning, which may be read again, and what reads on.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { counted } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Failure, Skeleton } from '../../ui/states.js';

/** A filter may leave nothing of what is read for a part: so many are read at once until there are rows. */
const MOST_PARTS = 5;

/** What the API gives: rows, under a name of their own. @typedef {{ next_cursor: string | null } & Record<string, any>} Part */
/** What was read so far, and where it goes on, if it does. @typedef {{ rows: any[], next: string | null }} Known */
/** `found` says whether what was asked for last had rows. @typedef {{ isBusy: boolean, found?: boolean, error?: any }} State */
/** @typedef {Known & State & { part: { current: HTMLElement | null }, more: () => Promise<void> }} FurtherList */

/** The beginning is read without a cursor. @type {Known} */
const NOTHING = { rows: [], next: '' };

/**
 * Keeps what was read of a list, and stops reading when it is left.
 * @param {string} name that the API has for the rows
 * @param {(cursor: string, signal: AbortSignal) => Promise<Part>} read
 * @param {Part} [beginning] if something else keeps it and reads it again
 * @returns {FurtherList}
 */
export function useFurther(name, read, beginning) {
  const known = useRef(NOTHING);
  const [state, setState] = useState(/** @type {State} */ ({ isBusy: false }));
  const [leaving] = useState(() => new AbortController());
  if (beginning) known.current = begunWith({ rows: beginning[name], next: beginning.next_cursor }, known.current);
  const { part, noteLast } = useFocus(state.error?.retryAfter > 0);

  async function more() {
    if (state.isBusy) return;
    noteLast();
    setState((before) => ({ ...before, isBusy: true, error: undefined }));
    const outcome = await lookOn().then((found) => ({ found }), (error) => ({ error }));
    if (!leaving.signal.aborted) setState((before) => ({ ...before, ...outcome, isBusy: false }));
  }

  /** Reads on until there are rows, but not for long. */
  async function lookOn() {
    for (let count = 0; count < MOST_PARTS && known.current.next !== null; count += 1) {
      const { next } = known.current;
      const { [name]: rows, next_cursor } = await read(next, leaving.signal);
      // The list has begun anew meanwhile.
      if (known.current.next !== next) return true;
      known.current = { rows: together(known.current.rows, rows), next: next_cursor };
      if (rows.length > 0) return true;
    }
    return false;
  }

  useEffect(() => {
    if (known.current.rows.length === 0 && known.current.next !== null) more();
    return () => leaving.abort();
  }, []);
  return { ...known.current, ...state, part, more };
}

/** What is known, with its beginning as it is now. @param {Known} beginning @param {Known} known @returns {Known} */
function begunWith(beginning, known) {
  if (known === NOTHING) return beginning;
  const rows = together(beginning.rows, known.rows);
  // So much is new that nobody knows what lies between: the list begins anew.
  const isAnew = beginning.rows.length > 0 && rows.length === beginning.rows.length + known.rows.length;
  return isAnew ? beginning : { rows, next: known.next };
}

/** Both, and what is in both once, as the first ones have it. @param {any[]} rows @param {any[]} others */
function together(rows, others) {
  const ids = new Set(rows.map(idOf));
  return [...rows, ...others.filter((row) => !ids.has(idOf(row)))];
}

/** A row without an id is only the same as itself. @param {any} row */
const idOf = (row) => row.id ?? row;

const ROWS = 'tbody > tr, li:not(li li)';
const GOING_ON = ':scope > .failure > button, :scope > .row > button';

/** Keeps the focus in the list when what had it is gone, such as the button that has read the last part. @param {boolean} hasToWait whether what reads on is off for a while */
function useFocus(hasToWait) {
  const part = useRef(/** @type {HTMLElement | null} */ (null));
  const last = useRef(/** @type {Element | undefined} */ (undefined));
  const hadFocus = part.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    if (hadFocus && part.current && document.activeElement === document.body) focusIn(part.current, last.current, hasToWait);
  });
  const noteLast = () => {
    last.current = [...(part.current?.querySelectorAll(ROWS) ?? [])].pop();
  };
  return { part, noteLast };
}

/** What reads on has the focus then, or else the first row that is new. @param {HTMLElement} part @param {Element | undefined} last the last row before @param {boolean} hasToWait */
function focusIn(part, last, hasToWait) {
  const button = /** @type {HTMLElement | null} */ (part.querySelector(GOING_ON));
  if (button && !hasToWait) return button.focus();
  /** @type {(Element | undefined)[]} */
  const rows = [...part.querySelectorAll(ROWS)];
  const target = /** @type {HTMLElement} */ (rows[rows.indexOf(last) + 1] ?? rows.pop() ?? part);
  target.tabIndex = -1;
  target.focus();
}

/**
 * The rows, as they are drawn, with what reads on.
 * @param {{ of: FurtherList, one: string, many: string, what?: string, class?: string, children?: unknown }} props `one` and `many` are what rows are called; `what` is said if the beginning can’t be read
 */
export function Further({ of, one, many, what = NO_MORE, class: classes = '', children }) {
  const { part, rows, next, isBusy, found, error, more } = of;
  const isEmpty = rows.length === 0;
  const isInVain = found === false && next !== null;
  const isUnread = isEmpty && next !== null && !isInVain;
  return html`<div class=${`further ${classes}`} ref=${part}>
    ${isUnread ? !error && html`<${Skeleton} rows=${3} height=${40} />` : children}
    ${error && html`<${Failure} what=${isEmpty ? what : NO_MORE} error=${error} retry=${more} />`}
    ${!error && next !== null && !isUnread && html`<p class="row centred">
      ${isInVain && html`<span class="muted" aria-hidden="true">${IN_VAIN}</span>`}
      <${Button} class="compact" isBusy=${isBusy} onClick=${more}>${isInVain ? 'Look further back' : 'Load more'}<//>
    </p>`}
    <p class="hidden" role="status">${isInVain ? IN_VAIN : found !== undefined && counted(rows.length, one, many)}</p>
  </div>`;
}

const NO_MORE = 'Couldn’t load more.';
const IN_VAIN = 'Nothing found so far.';
