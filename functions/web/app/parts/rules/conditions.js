// What has to hold of a visitor so that a rule leads them.

import { html } from '../../vendor/preact.js';
import { Button } from '../../ui/button.js';
import { useId } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { conditionOf, isListed, keyOf, localOrNothing, MOST_CONDITIONS, newCondition, TYPES } from './routing.js';
import { Several } from './several.js';

/** @typedef {import('./routing.js').Condition} Condition */

/**
 * @param {object} props
 * @param {import('./routing.js').Rule} props.rule
 * @param {string} props.title the rule's
 * @param {(key: string) => string | undefined} props.errorOf
 * @param {(key: string) => void} props.clear takes an error away
 * @param {(some: { conditions: Condition[] }) => void} props.change
 */
export function Conditions({ rule, title, errorOf, clear, change }) {
  const { part, focusLater } = useLaterFocus();
  const { conditions } = rule;
  const set = (/** @type {Condition[]} */ changed) => change({ conditions: changed });
  const add = () => {
    const added = newCondition();
    set([...conditions, added]);
    focusLater(`[data-condition="${added.id}"] select`);
  };
  const remove = (/** @type {number} */ at) => {
    set(conditions.filter((_, index) => index !== at));
    focusLater(`[data-condition="${conditions[at === conditions.length - 1 ? at - 1 : at + 1].id}"] select`);
  };
  return html`<div class="conditions" ref=${part}>
    <span class="label">If</span>
    ${conditions.map((condition, at) => {
      const key = keyOf('condition', condition.id);
      const changeOne = (/** @type {Partial<Condition>} */ some) => {
        set(conditions.map((other) => (other.id === condition.id ? { ...other, ...some } : other)));
        clear(key);
      };
      return html`<${ConditionView}
        key=${condition.id}
        condition=${condition}
        name=${`${title}, condition ${at + 1}`}
        error=${errorOf(key)}
        change=${changeOne}
        remove=${conditions.length > 1 && (() => remove(at))}
      />`;
    })}
    ${conditions.length < MOST_CONDITIONS && html`<p class="row"><${Button} kind="quiet" class="compact" icon="plus" aria-label=${`Add a condition to ${title.toLowerCase()}`} onClick=${add}>Add a condition<//></p>`}
  </div>`;
}

/** @param {{ condition: Condition, name: string, error?: string, change: (some: Partial<Condition>) => void, remove: false | (() => void) }} props */
function ConditionView({ condition, name, error, change, remove }) {
  const id = useId('condition');
  const known = { 'aria-invalid': error ? 'true' : undefined, 'aria-describedby': error ? `${id}-error` : undefined };
  return html`<div class="field condition" role="group" aria-label=${name} data-condition=${condition.id}>
    <div class="field-row">
      <select class="condition-type" aria-label="Condition type" value=${condition.type} onChange=${(/** @type {any} */ event) => change(conditionOf(event.target.value))}>
        ${TYPES.map(({ value, label }) => html`<option key=${value} value=${value}>${label}</option>`)}
      </select>
      <${Value} condition=${condition} known=${known} change=${change} />
      ${remove && html`<${Button} kind="quiet" class="compact" icon="close" label=${`Remove ${name.toLowerCase()}`} onClick=${remove} />`}
    </div>
    ${condition.type === 'device' && condition.chosen.some((device) => OF_IPADS.has(device)) && html`<p class="hint">Safari on iPad identifies as a Mac unless it requests mobile websites.</p>`}
    ${error && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
  </div>`;
}

/** The devices that an iPad is, and those that it says it is. */
const OF_IPADS = new Set(['ios', 'mobile', 'macos', 'desktop']);

/** @type {Record<string, string>} */
const LABELS = { country: 'Countries', language: 'Languages', device: 'Devices', browser: 'Browsers' };

/** @param {{ condition: Condition, known: { 'aria-invalid'?: string, 'aria-describedby'?: string }, change: (some: Partial<Condition>) => void }} props */
function Value({ condition: { type, key, value, chosen }, known, change }) {
  const write = (/** @type {any} */ event) => change({ value: event.target.value });
  if (isListed(type)) {
    return html`<${Several} key=${type} type=${type} value=${chosen} onChange=${(/** @type {string[]} */ changed) => change({ chosen: changed })} label=${LABELS[type]} known=${known} />`;
  }
  if (type === 'query-param') {
    return html`<input ...${known} aria-label="Parameter name" placeholder="ref" maxlength="100" autocomplete="off" autocapitalize="none" spellcheck=${false} value=${key} onInput=${(/** @type {any} */ event) => change({ key: event.target.value })} />
      <input aria-label="Parameter value" placeholder="mail" maxlength="100" autocomplete="off" autocapitalize="none" spellcheck=${false} value=${value} onInput=${write} />`;
  }
  const onInput = (/** @type {any} */ event) => change({ value: event.target.value && new Date(event.target.value).toISOString() });
  return html`<input ...${known} type="datetime-local" aria-label="Date and time" value=${localOrNothing(value)} onInput=${onInput} />`;
}
