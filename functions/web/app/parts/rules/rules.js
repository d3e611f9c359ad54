// Where a link leads some visitors instead of its target: rules, and variants that share the others. A part of the link's form, and
// a drawer for who may only look at them.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Failure, Skeleton } from '../../ui/states.js';
import { RuleList } from './rule-list.js';
import { valuesOf } from './routing.js';
import { Tester } from './tester.js';
import { VariantList } from './variants.js';

/** @typedef {import('./routing.js').Routing} Routing */
/** @typedef {'edit' | 'remove' | 'read'} Mode what may be done with them: where destinations are fixed, they can only be taken away */

/**
 * @param {object} props
 * @param {import('./rule-list.js').RulesForm} props.form
 * @param {Mode} props.mode
 * @param {string} [props.code] of the link, if there is one already, by which rules are tried
 * @param {string} props.target the link’s own
 * @param {boolean} props.areCountriesKnown
 * @param {unknown} [props.note] why they can only be taken away
 */
export function RulesFields({ form, mode, code, target, areCountriesKnown, note }) {
  const { rules, variants } = form.values;
  return html`<${RuleList} form=${form} mode=${mode} areCountriesKnown=${areCountriesKnown} note=${note} />
    <${VariantList} form=${form} mode=${mode} target=${target} />
    ${code && rules.length + variants.length > 0 && html`<${Tester} code=${code} values=${form.values} areCountriesKnown=${areCountriesKnown} />`}`;
}

/** For who may not change them. @param {{ code: string, target: string, onClose: () => void }} props */
export function RulesDrawer({ code, target, onClose }) {
  const [{ routing, failure }, setRead] = useState(/** @type {{ routing?: Routing, failure?: any }} */ ({}));
  const read = () => call('GET /api/links/{code}/rules', { path: { code } }).then((found) => setRead({ routing: found }), (error) => setRead({ failure: error }));
  useEffect(() => void read(), []);
  const form = routing && /** @type {any} */ ({ values: valuesOf(routing), errors: {} });
  return html`<${Dialog} kind="drawer" title=${`Rules and variants for ${code}`} onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Close<//>`}>
    ${routing
      ? html`<${RulesFields} form=${form} mode="read" code=${code} target=${target} areCountriesKnown=${routing.countries_known} />`
      : failure
        ? html`<${Failure} what="Couldn’t load the rules." error=${failure} retry=${read} />`
        : html`<${Skeleton} rows=${3} height=${120} />`}
  <//>`;
}
