// A button that opens a list of things to do.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { Icon } from './icons.js';
import { useId } from './field.js';

/**
 * @typedef {object} MenuItem
 * @property {string} label
 * @property {string} [key] what tells it from the others, if a label can occur twice
 * @property {import('./icons.js').IconName} [icon]
 * @property {() => void} [act]
 * @property {string} [href] an address elsewhere is opened in another tab
 * @property {boolean} [isDanger]
 * @property {boolean} [isCurrent]
 * @property {boolean} [isDisabled] whether it is shown, but can't be chosen
 * @property {string} [group] the heading above it and those behind it that have the same
 * @property {string} [note] in small print
 * @property {boolean} [isNarrow] whether it is for narrow windows only, where there is no room for a button
 */

/**
 * @param {object} props
 * @param {unknown} props.children what the button shows
 * @param {string} [props.label] the button's name, if it shows an icon only
 * @param {(MenuItem | null | false | undefined)[]} props.items
 * @param {string} [props.class]
 * @param {'start' | 'end'} [props.align] the edge of the button where the list begins
 * @param {boolean} [props.isUp]
 * @param {() => void} [props.onOpen]
 */
export function Menu({ children, label, items, class: classes = 'button quiet', align = 'end', isUp = false, onOpen }) {
  const [isOpen, setOpen] = useState(false);
  const [isFlipped, setFlipped] = useState(false);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId('menu');
  const shown = /** @type {MenuItem[]} */ (items.filter(Boolean));

  useEffect(() => {
    if (!isOpen) return undefined;
    const onPointer = (/** @type {Event} */ event) => {
      if (!root.current?.contains(/** @type {Node} */ (event.target))) setOpen(false);
    };
    addEventListener('pointerdown', onPointer);
    return () => removeEventListener('pointerdown', onPointer);
  }, [isOpen]);

  useLayoutEffect(() => {
    if (!isOpen) return;
    setFlipped(place(/** @type {HTMLElement} */ (root.current), isUp));
    itemsOf(root.current)[0]?.focus();
  }, [isOpen]);

  function close() {
    setOpen(false);
    /** @type {HTMLElement | null | undefined} */ (root.current?.querySelector('button'))?.focus();
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    if (!isOpen) return;
    const list = itemsOf(root.current);
    const at = list.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + list.length, Home: 0, End: list.length - 1 }[event.key];
    if (to !== undefined) list[to % list.length]?.focus();
    else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') return setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const choose = (/** @type {MenuItem} */ item) => () => {
    if (item.isDisabled) return;
    close();
    item.act?.();
  };
  return html`<div class="menu" ref=${root} onKeyDown=${onKeyDown}>
    <button
      type="button"
      id=${`${id}-opener`}
      class=${classes}
      aria-haspopup="menu"
      aria-expanded=${isOpen}
      aria-controls=${isOpen ? id : undefined}
      aria-label=${label}
      title=${label}
      onClick=${() => {
        if (!isOpen) onOpen?.();
        setOpen(!isOpen);
      }}
    >${children}</button>
    ${isOpen &&
    html`<div class=${`menu-list ${align} ${isUp ? 'up' : ''} ${isFlipped ? 'flipped' : ''}`} role="menu" id=${id} aria-labelledby=${`${id}-opener`}>
      ${
        // The key keeps a press that has begun on its item when others appear above it, as workspaces do once they are read.
        shown.flatMap((item, at) => [
          item.group && item.group !== shown[at - 1]?.group && html`<div role="separator" class="menu-group" key=${`group ${item.group}`} aria-label=${item.group}>${item.group}</div>`,
          html`<${ItemView} key=${item.key ?? item.label} item=${item} choose=${choose(item)} />`,
        ])
      }
    </div>`}
  </div>`;
}

const EDGE = 12;

/**
 * Makes the list as high as there is room, and moves it into the window.
 * @param {HTMLElement} root
 * @param {boolean} isUp
 * @returns {boolean} whether it has more room above its button
 */
export function place(root, isUp) {
  const list = /** @type {HTMLElement} */ (root.querySelector('.menu-list'));
  const { top, bottom } = root.getBoundingClientRect();
  // A phone's bar lies over the page.
  const bar = /** @type {HTMLElement | null} */ (document.querySelector('.bottom'))?.offsetHeight ?? 0;
  const [above, below] = [top - EDGE, innerHeight - bar - bottom - EDGE];
  const isFlipped = !isUp && list.scrollHeight > below && above > below;
  list.style.maxHeight = `min(60vh, ${isUp || isFlipped ? above : below}px)`;
  const { left, right } = list.getBoundingClientRect();
  const { clientWidth } = document.documentElement;
  list.style.translate = `${Math.max(EDGE - left, 0) + Math.min(clientWidth - EDGE - right, 0)}px`;
  return isFlipped;
}

/** @param {HTMLElement | null} root @returns {HTMLElement[]} */
function itemsOf(root) {
  const items = /** @type {HTMLElement[]} */ ([...(root?.querySelectorAll('[role^=menuitem]') ?? [])]);
  return items.filter((item) => item.offsetParent !== null);
}

/** @param {{ item: MenuItem, choose: () => void }} props */
function ItemView({ item, choose }) {
  const { label, icon, href, isDanger, isCurrent, isDisabled, note, isNarrow } = item;
  const inner = html`${icon && html`<${Icon} name=${icon} />`}<span class="menu-label" dir="auto" title=${label}>${label}</span>
    ${note && html`<span class="menu-note">${note}</span>`}${isCurrent && html`<${Icon} name="tick" />`}`;
  const common = {
    class: `menu-item ${isDanger ? 'bad' : ''} ${isNarrow ? 'for-narrow' : ''}`,
    role: isCurrent === undefined ? 'menuitem' : 'menuitemradio',
    'aria-checked': isCurrent,
    'aria-disabled': isDisabled || undefined,
    tabindex: -1,
    onClick: choose,
  };
  const elsewhere = href?.startsWith('http') ? { target: '_blank', rel: 'noopener noreferrer' } : {};
  return href ? html`<a ...${common} ...${elsewhere} href=${href}>${inner}</a>` : html`<button ...${common} type="button">${inner}</button>`;
}
