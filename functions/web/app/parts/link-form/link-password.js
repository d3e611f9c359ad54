// The password that visitors of a link have to know. The one that it has is shown nowhere.

import { html, useState } from '../../vendor/preact.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';
import { useLaterFocus } from '../../ui/later-focus.js';

/** @param {{ isSet: boolean, value: string | null, error?: string, onChange: (password: string | null) => void }} props `isSet` says whether the link has one */
export function LinkPassword({ isSet, value, error, onChange }) {
  const [isChanging, setChanging] = useState(false);
  const { part, focusLater } = useLaterFocus();
  const after = (/** @type {() => void} */ act) => () => {
    act();
    focusLater('input, button');
  };
  const change = (/** @type {boolean} */ is) =>
    after(() => {
      setChanging(is);
      onChange('');
    });
  if (isSet && value === null) {
    return html`<${Kept} part=${part} text="The password is removed when you save.">
      <${Button} class="compact" onClick=${change(false)}>Keep<//>
    <//>`;
  }
  if (isSet && !isChanging && !error) {
    return html`<${Kept} part=${part} icon="lock" text="Password protected">
      <${Button} class="compact" aria-label="Change password" onClick=${change(true)}>Change<//>
      <${Button} class="compact" aria-label="Remove password" onClick=${after(() => onChange(null))}>Remove<//>
    <//>`;
  }
  // It is for others, so whoever sets it reads what they pass on, and no browser takes it for their own.
  return html`<div ref=${part}>
    <${Field}
      label=${isSet ? 'New password' : 'Password'}
      isOptional=${!isSet}
      name="password"
      autocomplete="off"
      autocapitalize="none"
      spellcheck=${false}
      hint="Visitors enter it to continue. It won’t be shown again."
      value=${value ?? ''}
      error=${error}
      onInput=${(/** @type {any} */ event) => onChange(event.target.value)}
      after=${isSet && html`<${Button} onClick=${change(false)}>Keep current<//>`}
    />
  </div>`;
}

/** @param {{ part: { current: HTMLElement | null }, icon?: import('../../ui/icons.js').IconName, text: string, children: unknown }} props */
function Kept({ part, icon, text, children }) {
  return html`<div class="field" role="group" aria-label="Password">
    <span class="label" aria-hidden="true">Password</span>
    <div class="kept" ref=${part}>${icon && html`<${Icon} name=${icon} />`}<span>${text}</span>${children}</div>
  </div>`;
}
