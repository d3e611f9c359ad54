import { html, useState } from '../../vendor/preact.js';
import { Button } from '../../ui/button.js';
import { useLaterFocus } from '../../ui/later-focus.js';

/**
 * A value with the way to a form that takes its place meanwhile.
 * @param {object} props
 * @param {unknown} props.value
 * @param {string} props.what what the button is about, such as `name`
 * @param {boolean} [props.isBegun] whether the form is shown at first
 * @param {(close: () => void) => unknown} props.children the form
 */
export function Changeable({ value, what, isBegun = false, children }) {
  const [isOpen, setOpen] = useState(isBegun);
  const { part, focusLater } = useLaterFocus();
  const turn = (/** @type {boolean} */ open) => () => {
    setOpen(open);
    focusLater(open ? 'input:not([readonly])' : '.change');
  };
  return html`<div ref=${part}>
    ${isOpen
      ? children(turn(false))
      : html`<p class="changeable">${value}<${Button} class="compact change" onClick=${turn(true)}>Change<span class="hidden"> your ${what}</span><//></p>`}
  </div>`;
}
