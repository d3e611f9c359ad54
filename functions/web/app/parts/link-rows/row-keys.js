// Moving through the list by keys, and acting on the row where one is.

import { useEffect, useRef, useState } from '../../vendor/preact.js';
import { scrolledBefore } from '../../core/router.js';
import { useShortcuts } from '../../core/shortcuts.js';
import { copyText } from '../../ui/copy.js';
import { toast } from '../../ui/toast.js';
import { mayChange, opened, ROW_HEIGHT } from './row.js';

/** @typedef {import('../../core/lists.js').Link} Link */

const RETURN_WITHIN_MS = 1_000;

/**
 * @param {object} props
 * @param {import('../../pages/links/link-list.js').LinkList} props.list
 * @param {import('./row.js').RowActions} props.actions
 * @param {() => void} props.selectMore
 * @param {() => void} props.clear
 * @param {boolean} props.hasSelection
 * @returns {number} the row that has the focus, or -1
 */
export function useRowKeys({ list, actions, selectMore, clear, hasSelection }) {
  const [active, setActive] = useState(-1);
  const wanted = useRef(-1);

  useEffect(() => {
    const onFocus = (/** @type {FocusEvent} */ event) => {
      setActive(rowOf(/** @type {Element} */ (event.target)));
    };
    document.addEventListener('focusin', onFocus);
    return () => document.removeEventListener('focusin', onFocus);
  }, []);
  useEffect(() => {
    if (wanted.current === active && active >= 0) focusRow(active);
    wanted.current = -1;
  });
  // A row that goes, since it is archived or deleted, leaves the focus to the one in its place.
  const count = list.links.length;
  const countBefore = useRef(count);
  useEffect(() => {
    const isGone = count < countBefore.current && document.activeElement === document.body;
    countBefore.current = count;
    if (isGone && active >= 0 && count > 0) focusRow(Math.min(active, count - 1));
  }, [count]);

  // After the page's heading has had the focus.
  useEffect(() => {
    if (count === 0) return undefined;
    const back = scrolledBefore() === undefined ? -1 : list.links.findIndex((link) => link.short_code === opened.code);
    opened.code = '';
    const until = Date.now() + RETURN_WITHIN_MS;
    let frame = 0;
    // The page scrolls to where it was, which brings the row.
    const focus = () => {
      frame = requestAnimationFrame(() => document.activeElement?.matches('body, h1') && !focusRow(back) && Date.now() < until && focus());
    };
    if (back >= 0) focus();
    return () => cancelAnimationFrame(frame);
  }, [count > 0]);

  /** @param {number} step */
  function move(step) {
    if (list.links.length === 0) return;
    const from = wanted.current >= 0 ? wanted.current : rowOf(document.activeElement);
    const to = from < 0 ? firstInView() : Math.max(0, Math.min(list.links.length - 1, from + step));
    if (!focusRow(to)) {
      wanted.current = to;
      setActive(to);
    }
    if (to >= list.links.length - 1) list.loadMore();
  }
  const at = (/** @type {(link: Link, index: number) => void} */ act) => () => {
    const index = rowOf(document.activeElement);
    if (list.links[index]) act(list.links[index], index);
  };

  const moves = [
    { keys: 'j', or: 'ArrowDown', text: 'Next link', act: () => move(1), isOffered: () => false },
    { keys: 'k', or: 'ArrowUp', text: 'Previous link', act: () => move(-1), isOffered: () => false },
  ];
  const onRow = [
    { keys: 'Enter', text: 'Open' },
    { keys: 'y', text: 'Copy', act: at((link) => void copyText(link.short_url).then(() => toast('Copied.'))) },
    { keys: 'q', text: 'QR code', act: at(actions.showQr) },
    { keys: 'e', text: 'Edit', act: at((link) => mayChange(link) && link.status !== 'deleted' && actions.edit(link)) },
    { keys: 'a', text: 'Archive or unarchive', act: at((link) => mayChange(link) && link.status !== 'deleted' && actions.archive(link)) },
    { keys: 'x', text: 'Select', act: at((_, index) => actions.select(index, false)) },
    { keys: 'X', text: 'Select up to here', act: at((_, index) => actions.select(index, true)) },
  ].map((one) => ({ ...one, isOffered: (/** @type {Element | null} */ focused) => rowOf(focused) >= 0 }));
  const onSelection = [
    { keys: 'b', text: 'Go to the selection bar', act: focusBar },
    { keys: 'Escape', text: 'Clear selection', act: clear },
  ];
  const all = { keys: '*', text: 'Select all rows, then all matches', act: selectMore, isOffered: () => count > 0 };
  useShortcuts('Links', [...moves, ...onRow, all, ...(hasSelection ? onSelection : [])]);
  return active;
}

/** It is behind all rows, and so far away for the tabulator. */
const focusBar = () => /** @type {HTMLElement | null} */ (document.querySelector('.selection button'))?.focus();

/** Where the keys begin if no row has the focus. */
function firstInView() {
  const rows = [...document.querySelectorAll('.link-row')].filter((row) => row.getBoundingClientRect().top >= 0);
  return rows.length > 0 ? Math.min(...rows.map(rowOf)) : 0;
}

/** The row that an element is in, or -1. @param {Element | null} element */
function rowOf(element) {
  const row = element?.closest?.('.link-row');
  return row instanceof HTMLElement ? Number(row.dataset.index) : -1;
}

/** @param {number} index @returns {boolean} whether it is in the page */
function focusRow(index) {
  const row = document.querySelector(`.link-row[data-index="${index}"]`);
  if (!row) return false;
  /** @type {HTMLElement | null} */ (row.querySelector('.link-title'))?.focus({ preventScroll: true });
  keepInView(row);
  return true;
}

/** Scrolls by rows, not to the middle. @param {Element} row */
function keepInView(row) {
  const { top, bottom } = row.getBoundingClientRect();
  const room = ROW_HEIGHT * 1.5;
  if (top < room) scrollBy(0, top - room);
  else if (bottom > innerHeight - room) scrollBy(0, bottom - innerHeight + room);
}
