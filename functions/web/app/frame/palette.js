// A field that leads anywhere. What it finds is loaded when it is opened first; what is typed until then is in the field already.

import { html, useState } from '../vendor/preact.js';
import { Dialog } from '../ui/dialog.js';
import { Lazy } from '../ui/lazy.js';

export const loadPalette = () => import('../parts/palette/palette.js');

/** @param {Omit<import('../parts/palette/palette.js').PaletteProps, 'text' | 'tell' | 'focused'>} props */
export function Palette(props) {
  const [text, setText] = useState('');
  const [active, setActive] = useState('');
  const [focused] = useState(document.activeElement);
  const field = html`<input
    class="input"
    role="combobox"
    aria-label="Find anything"
    placeholder="Links, pages, actions"
    aria-autocomplete="list"
    aria-expanded=${active !== ''}
    aria-controls="found"
    aria-activedescendant=${active || undefined}
    autocomplete="off"
    spellcheck=${false}
    maxlength="200"
    autofocus
    value=${text}
    onInput=${(/** @type {any} */ event) => setText(event.target.value)}
  />`;
  return html`<${Dialog} kind="palette" title="Find anything" instead=${field} onClose=${props.onClose}>
    <${Lazy} load=${loadPalette} name="Found" text=${text} focused=${focused} tell=${setActive} onFailure=${props.onClose} ...${props} />
  <//>`;
}
