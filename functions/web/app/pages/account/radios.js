import { html } from '../../vendor/preact.js';
import { useId } from '../../ui/field.js';

/**
 * One of a few, each with its sentence.
 * @param {{ legend: string, value: string, options: { value: string, label: string, hint: unknown }[], onChange: (value: string) => void }} props
 */
export function Radios({ legend, value, options, onChange }) {
  const id = useId('radio');
  return html`<fieldset class="options">
    <legend>${legend}</legend>
    ${options.map(
      (option) => html`<div key=${option.value} class="checkbox">
        <input
          type="radio"
          name=${id}
          id=${`${id}-${option.value}`}
          checked=${option.value === value}
          aria-describedby=${`${id}-${option.value}-hint`}
          onChange=${() => onChange(option.value)}
        />
        <label for=${`${id}-${option.value}`}>${option.label}</label>
        <p class="hint" id=${`${id}-${option.value}-hint`}>${option.hint}</p>
      </div>`,
    )}
  </fieldset>`;
}
