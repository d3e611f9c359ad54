// Variants share the visitors whom no rule leads; the rest goes to the link's own target.

import { html, useState } from '../../vendor/preact.js';
import { cutMiddle, number, withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Field, useId } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { keyOf, LONGEST_NAME, MOST_VARIANTS, newVariant, restOf } from './routing.js';

/** @typedef {import('./routing.js').Variant} Variant */
/** @typedef {import('./rule-list.js').RulesForm} RulesForm */

const TARGET_LENGTH = 60;

/** @param {{ form: RulesForm, mode: import('./rules.js').Mode, target: string }} props */
export function VariantList({ form, mode, target }) {
  const id = useId('variants');
  const { variants } = form.values;
  const set = (/** @type {Variant[]} */ changed) => form.set('variants', changed);
  const { part, focusLater } = useLaterFocus();
  const [said, setSaid] = useState('');
  const add = () => {
    const added = newVariant();
    set([...variants, added]);
    setSaid('');
    focusLater(`[data-variant="${added.id}"] input`);
  };
  const remove = (/** @type {number} */ at) => {
    set(variants.filter((_, index) => index !== at));
    setSaid(`Variant ${at + 1} is removed.`);
    focusLater(variants.length > 1 ? `[data-variant="${variants[at === variants.length - 1 ? at - 1 : at + 1].id}"] .variant-remove` : '.variant-add');
  };
  const rest = restOf(variants);
  const adding = mode === 'edit' && variants.length < MOST_VARIANTS && html`<${Button} icon="plus" class="compact variant-add" onClick=${add}>Add a variant<//>`;
  const isEmpty = variants.length === 0;
  return html`<section class="stack tight" ref=${part} aria-labelledby=${id}>
    <div class="rules-head"><h3 id=${id}>Variants</h3>${isEmpty && adding}</div>
    <p class="hint">Traffic no rule matches is split between variants. A visitor always gets the same one.</p>
    ${form.errors.variants && html`<p class="field-error" role="alert">${form.errors.variants}</p>`}
    <ol class="rules">
      ${variants.map((variant, at) => {
        const change = (/** @type {Partial<Variant>} */ some) => set(variants.map((other) => (other.id === variant.id ? { ...other, ...some } : other)));
        return html`<${VariantView} key=${variant.id} variant=${variant} at=${at} form=${form} mode=${mode} change=${change} remove=${() => remove(at)} />`;
      })}
    </ol>
    ${isEmpty
      ? mode !== 'edit' && html`<p class="muted">No variants.</p>`
      : html`<p class="variant-rest">
          <span class="rule-url"><span class="muted">The link’s destination</span> <bdi title=${target}>${cutMiddle(withoutScheme(target), TARGET_LENGTH)}</bdi></span>
          <strong class=${rest < 0 ? 'bad' : ''} role="status"><span class="hidden">gets </span>${number(Math.max(0, rest))} %</strong>
        </p>`}
    <p class="hidden" role="status">${said}</p>
    ${!isEmpty && adding && html`<p class="row">${adding}</p>`}
  </section>`;
}

/** @param {{ variant: Variant, at: number, form: RulesForm, mode: import('./rules.js').Mode, change: (some: Partial<Variant>) => void, remove: () => void }} props */
function VariantView({ variant, at, form, mode, change, remove }) {
  const title = `Variant ${at + 1}`;
  const takeAway = mode !== 'read' && html`<${Button} kind="quiet" class="compact variant-remove" icon="trash" label=${`Remove ${title.toLowerCase()}`} onClick=${remove} />`;
  if (mode !== 'edit') {
    return html`<li class="rule" data-variant=${variant.id}>
      <div class="rule-head"><strong>${title}${variant.name && html` · <bdi>${variant.name}</bdi>`}, ${variant.weight} %</strong>${takeAway}</div>
      <p class="muted rule-url"><bdi>${withoutScheme(variant.url)}</bdi></p>
    </li>`;
  }
  /** @param {'name' | 'url' | 'weight'} name */
  const field = (name) => {
    const key = /** @type {any} */ (name === 'name' ? '' : keyOf(name, variant.id));
    return {
      value: variant[name],
      error: form.errors[key],
      onInput: (/** @type {any} */ event) => {
        change({ [name]: event.target.value });
        if (key) form.setError(key, '');
      },
    };
  };
  return html`<li data-variant=${variant.id}>
    <div class="rule" role="group" aria-label=${title}>
      <div class="rule-head"><strong>${title}</strong>${takeAway}</div>
      <div class="rule-fields variant-fields">
        <${Field} label="Name" isOptional dir="auto" maxlength=${LONGEST_NAME} autocomplete="off" placeholder="B" ...${field('name')} />
        <${Field} label="Share (%)" inputmode="numeric" maxlength="3" autocomplete="off" placeholder="50" ...${field('weight')} />
        <${Field} label="Destination" type="url" inputmode="url" spellcheck=${false} autocomplete="off" placeholder="https://" ...${field('url')} />
      </div>
    </div>
  </li>`;
}
