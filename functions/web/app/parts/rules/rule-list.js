// The rules in their order, which decides: the first one that fits a visitor leads them.

import { html, useState } from '../../vendor/preact.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Field, useId } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Conditions } from './conditions.js';
import { conditionWords, keyOf, LONGEST_NAME, MOST_RULES, newRule } from './routing.js';

/** @typedef {import('./routing.js').Rule} Rule */
/** @typedef {import('../../core/form.js').Form<import('./routing.js').Values>} RulesForm */

/** @param {{ form: RulesForm, mode: import('./rules.js').Mode, areCountriesKnown: boolean, note?: unknown }} props */
export function RuleList({ form, mode, areCountriesKnown, note }) {
  const id = useId('rules');
  const { rules } = form.values;
  const set = (/** @type {Rule[]} */ changed) => form.set('rules', changed);
  const { part, focusLater } = useLaterFocus();
  const [said, setSaid] = useState('');

  /** @param {number} at @param {number} step */
  function move(at, step) {
    const to = at + step;
    if (to < 0 || to >= rules.length) return;
    const others = rules.filter((_, index) => index !== at);
    set([...others.slice(0, to), rules[at], ...others.slice(to)]);
    setSaid(`${calledRule(rules[at], at)} is now number ${to + 1} of ${rules.length}.`);
    focusLater(`[data-rule="${rules[at].id}"] .${step < 0 ? 'rule-up' : 'rule-down'}`);
  }

  function add() {
    const added = newRule(areCountriesKnown ? 'country' : 'device');
    set([...rules, added]);
    setSaid('');
    focusLater(`[data-rule="${added.id}"] input`);
  }

  /** @param {number} at */
  function remove(at) {
    set(rules.filter((_, index) => index !== at));
    setSaid(`${calledRule(rules[at], at)} is removed.`);
    focusLater(rules.length > 1 ? `[data-rule="${rules[at === rules.length - 1 ? at - 1 : at + 1].id}"] .rule-remove` : '.rule-add');
  }

  const adding = mode === 'edit' && rules.length < MOST_RULES && html`<${Button} icon="plus" class="compact rule-add" onClick=${add}>Add a rule<//>`;
  const isEmpty = rules.length === 0;
  return html`<section class="stack tight" ref=${part} aria-labelledby=${id}>
    <div class="rules-head"><h3 id=${id} tabindex="-1">Rules</h3>${isEmpty && adding}</div>
    ${note || html`<p class="hint">${isEmpty && mode === 'edit' ? 'Send some visitors elsewhere, by country, language, device and more.' : 'The first matching rule wins. If rules differ only by language, the visitor’s preferred one wins.'}</p>`}
    ${!areCountriesKnown && html`<p class="hint">Countries are unknown because no trusted edge is configured.</p>`}
    ${form.errors.rules && html`<p class="field-error" role="alert">${form.errors.rules}</p>`}
    ${isEmpty && mode !== 'edit' && html`<p class="muted">No rules.</p>`}
    <ol class="rules">
      ${rules.map((rule, at) => {
        const change = (/** @type {Partial<Rule>} */ some) => set(rules.map((other) => (other.id === rule.id ? { ...other, ...some } : other)));
        return html`<${RuleView} key=${rule.id} rule=${rule} at=${at} count=${rules.length} form=${form} mode=${mode} change=${change} move=${move} remove=${remove} />`;
      })}
    </ol>
    <p class="hidden" role="status">${said}</p>
    ${!isEmpty && adding && html`<p class="row">${adding}</p>`}
  </section>`;
}

/** What a rule is called. @param {Rule} rule @param {number} at */
const calledRule = (rule, at) => [`Rule ${at + 1}`, rule.name.trim()].filter(Boolean).join(', ');

/**
 * @param {object} props
 * @param {Rule} props.rule
 * @param {number} props.at
 * @param {number} props.count
 * @param {RulesForm} props.form
 * @param {import('./rules.js').Mode} props.mode
 * @param {(some: Partial<Rule>) => void} props.change
 * @param {(at: number, step: number) => void} props.move
 * @param {(at: number) => void} props.remove
 */
function RuleView({ rule, at, count, form, mode, change, move, remove }) {
  const title = `Rule ${at + 1}`;
  const takeAway = mode !== 'read' && html`<${Button} kind="quiet" class="compact rule-remove" icon="trash" label=${`Remove ${title.toLowerCase()}`} onClick=${() => remove(at)} />`;
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || step === undefined || /** @type {Element} */ (event.target).matches('select')) return;
    event.preventDefault();
    move(at, step);
  };
  if (mode !== 'edit') {
    return html`<li class="rule" data-rule=${rule.id}>
      <div class="rule-head"><strong>${title}${rule.name && html` · <bdi>${rule.name}</bdi>`}</strong>${takeAway}</div>
      <p>${rule.conditions.map(conditionWords).join(' · ')}</p>
      <p class="muted rule-url"><bdi>${withoutScheme(rule.url)}</bdi></p>
    </li>`;
  }
  const error = (/** @type {string} */ key) => form.errors[key];
  const write = (/** @type {'name' | 'url'} */ name) => (/** @type {any} */ event) => {
    change({ [name]: event.target.value });
    if (name === 'url') form.setError(/** @type {any} */ (keyOf('url', rule.id)), '');
  };
  return html`<li data-rule=${rule.id} onKeyDown=${onKeyDown}>
    <div class="rule" role="group" aria-label=${title}>
      <div class="rule-head">
        <strong>${title}</strong>
        <${Button} kind="quiet" class="compact rule-up" icon="up" label=${`Move ${title.toLowerCase()} up`} aria-disabled=${at === 0} onClick=${() => move(at, -1)} />
        <${Button} kind="quiet" class="compact rule-down" icon="down" label=${`Move ${title.toLowerCase()} down`} aria-disabled=${at === count - 1} onClick=${() => move(at, 1)} />
        ${takeAway}
      </div>
      <${Conditions} rule=${rule} title=${title} errorOf=${error} clear=${(/** @type {string} */ key) => form.setError(/** @type {any} */ (key), '')} change=${change} />
      <div class="rule-fields">
        <${Field} label="Destination" type="url" inputmode="url" spellcheck=${false} autocomplete="off" placeholder="https://" value=${rule.url} onInput=${write('url')} error=${error(keyOf('url', rule.id))} />
        <${Field} label="Name" isOptional dir="auto" maxlength=${LONGEST_NAME} autocomplete="off" placeholder="iPhones" value=${rule.name} onInput=${write('name')} />
      </div>
    </div>
  </li>`;
}
