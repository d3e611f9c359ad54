// A small form that hangs from its button, while the page behind it stays in use.

import { html, useLayoutEffect, useRef } from '../../vendor/preact.js';
import { Button } from '../../ui/button.js';
import { place } from '../../ui/menu.js';

/**
 * Stands in an element of the class `menu`, behind its button.
 * @param {object} props
 * @param {string} props.title
 * @param {unknown} props.children
 * @param {boolean} [props.isDisabled]
 * @param {(event: Event) => void} props.onSubmit
 * @param {() => void} props.onClose
 */
export function Popover({ title, children, isDisabled = false, onSubmit, onClose }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const latest = useRef(onClose);
  latest.current = onClose;

  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const root = /** @type {HTMLElement} */ (element.parentElement);
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    const hang = () => {
      element.style.translate = '';
      element.classList.toggle('flipped', place(root, false));
    };
    hang();
    element.querySelector('input')?.focus();
    const onLeave = (/** @type {Event} */ event) => root.contains(/** @type {Node} */ (event.target)) || latest.current();
    const types = ['pointerdown', 'focusin'];
    for (const type of types) addEventListener(type, onLeave);
    addEventListener('resize', hang);
    return () => {
      for (const type of types) removeEventListener(type, onLeave);
      removeEventListener('resize', hang);
      // What it was opened by; whoever has gone elsewhere stays there.
      if (element.contains(document.activeElement)) before?.focus();
    };
  }, []);

  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return html`<div ref=${box} class="menu-list start popover" role="dialog" aria-label=${title} onKeyDown=${onKeyDown}>
    <form class="stack" novalidate onSubmit=${onSubmit}>
      ${children}
      <${Button} kind="primary" type="submit" class="whole" disabled=${isDisabled}>Show<//>
    </form>
  </div>`;
}
