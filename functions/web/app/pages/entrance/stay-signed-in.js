import { html } from '../../vendor/preact.js';
import { Checkbox } from '../../ui/field.js';

/** Whether this browser goes on without the password. @param {{ form: import('../../core/form.js').Form<any> }} props */
export const StaySignedIn = ({ form }) =>
  html`<${Checkbox} label="Stay signed in" checked=${form.values.remember} onChange=${(/** @type {boolean} */ isOn) => form.set('remember', isOn)} />`;
