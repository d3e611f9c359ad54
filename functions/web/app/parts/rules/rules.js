// Where a link leads some visitors instead of its target: rules, and variants that share the others.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { Button } from '../../ui/button.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Failure, FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { changeUnlessOvertaken } from '../overtaken/overtaken.js';
import { RuleList } from './rule-list.js';
import { bodyOf, errorsOf, valuesOf } from './routing.js';
import { Tester } from './tester.js';
import { VariantList } from './variants.js';

/** @typedef {import('./routing.js').Routing} Routing */
/** @typedef {import('./routing.js').Values} Values */
/** @typedef {'edit' | 'remove' | 'read'} Mode what may be done with them: where destinations are fixed, they can only be taken away */

/**
 * @param {object} props
 * @param {string} props.code
 * @param {string} props.target the link’s own
 * @param {Mode} props.mode
 * @param {() => void} props.onSaved
 * @param {() => void} props.onClose
 */
export function RulesDrawer({ code, target, mode, onSaved, onClose }) {
  const path = { code };
  const shown = useRef(/** @type {any} */ (undefined));
  const [failure, setFailure] = useState(/** @type {any} */ (undefined));
  const form = useForm(/** @type {Values} */ ({ rules: [], variants: [] }), save, { check: errorsOf, keeps: true });
  const routing = /** @type {Routing | undefined} */ (shown.current);

  async function read() {
    setFailure(undefined);
    try {
      shown.current = await call('GET /api/links/{code}/rules', { path });
      form.begin(valuesOf(shown.current));
    } catch (error) {
      setFailure(error);
    }
  }
  useEffect(() => void read(), []);

  /** @param {Values} values */
  async function save(values) {
    await changeUnlessOvertaken(shown, {
      members: { rules: 'rules', variants: 'variants' },
      valuesOf: ({ rules, variants }) => ({ rules, variants }),
      read: () => call('GET /api/links/{code}/rules', { path, tagged: true }),
      send: (ifMatch) => call('PUT /api/links/{code}/rules', { path, body: bodyOf(values), ifMatch }),
    });
    toast('Rules and variants saved.');
    onSaved();
    onClose();
  }

  async function close() {
    const question = { title: 'Discard changes?', text: 'Your changes will be lost.', action: 'Discard', dismiss: 'Keep editing', isDanger: true };
    if (!form.isDirty || (await ask(question))) onClose();
  }

  const footer =
    mode === 'read'
      ? html`<${Button} onClick=${close}>Close<//>`
      : html`<${Button} onClick=${close}>Cancel<//><${Button} kind="primary" type="submit" isBusy=${form.isBusy} disabled=${!form.isDirty} title="Ctrl or ⌘ + Enter">Save<//>`;
  return html`<${Dialog} kind="drawer" title=${`Rules and variants for ${code}`} onClose=${close} onSubmit=${form.submit} footer=${footer}>
    ${routing
      ? html`<${FormFailure} error=${form.failure} />
          ${mode === 'remove' && html`<${Notice}>Destinations are locked in this workspace, so you can only remove rules and variants.<//>`}
          <${RuleList} form=${form} mode=${mode} areCountriesKnown=${routing.countries_known} />
          <${VariantList} form=${form} mode=${mode} target=${target} />
          <${Tester} code=${code} values=${form.values} areCountriesKnown=${routing.countries_known} />`
      : failure
        ? html`<${Failure} what="Couldn’t load the rules." error=${failure} retry=${read} />`
        : html`<${Skeleton} rows=${3} height=${120} />`}
  <//>`;
}
