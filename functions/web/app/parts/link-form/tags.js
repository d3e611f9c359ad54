// A field for several tags, with completion.

import { html, useRef, useState } from '../../vendor/preact.js';
import { folded, searched } from '../../core/folding.js';
import { Chip } from '../../ui/chips.js';
import { useId } from '../../ui/field.js';

const SUGGESTIONS = 8;

/**
 * @param {object} props
 * @param {string} props.label
 * @param {string[]} props.value
 * @param {(tags: string[]) => void} props.onChange
 * @param {string[]} props.known what is offered
 * @param {unknown} [props.hint]
 * @param {unknown} [props.error]
 * @param {boolean} [props.isOptional]
 */
export function TagInput({ label, value, onChange, known, hint, error, isOptional = false }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const id = useId('tags');
  const wanted = searched(text);
  const taken = value.map(folded);
  const offered = known.filter((tag) => searched(tag).includes(wanted) && !taken.includes(folded(tag))).slice(0, SUGGESTIONS);
  const isListed = isOpen && offered.length > 0;

  /** @param {string[]} tags */
  function add(tags) {
    const known = new Set(taken);
    const names = tags.map((tag) => tag.trim()).filter((name) => name && !known.has(folded(name)) && known.add(folded(name)));
    if (names.length > 0) onChange([...value, ...names]);
    setText('');
    setActive(-1);
    // What it would cover is needed next.
    setOpen(false);
  }

  /** Takes what is typed, in which commas separate tags. */
  const addTyped = () => add(text.split(','));

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const isSaving = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    if (event.key === 'Enter' && !isSaving && active >= 0) add([offered[active]]);
    else if (event.key === 'Enter' && text.trim()) addTyped();
    else if (event.key === 'Backspace' && text === '') return onChange(value.slice(0, -1));
    else if (event.key === 'ArrowDown' && offered.length > 0) move(active + 1);
    else if (event.key === 'ArrowUp' && offered.length > 0) move(active - 1);
    else if (event.key === 'Escape' && isListed) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
    // With what was typed last, which is a tag once it is drawn.
    if (isSaving) setTimeout(() => input.current?.form?.requestSubmit());
  }

  /** A comma ends a tag, wherever it comes from: not all keyboards tell which key it was. @param {string} typed */
  function type(typed) {
    const parts = typed.split(',');
    const rest = parts.pop() ?? '';
    if (parts.length > 0) add(parts);
    setText(parts.length > 0 ? rest.trimStart() : rest);
    setActive(-1);
    setOpen(true);
  }

  /** @param {number} to */
  function move(to) {
    setOpen(true);
    setActive((to + offered.length) % offered.length);
  }

  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return html`<div class="field">
    <label for=${id}>${label}${isOptional && html` <span class="optional">optional</span>`}</label>
    <div class="tag-input" onClick=${() => input.current?.focus()}>
      ${value.map(
        (tag) => html`<${Chip} key=${tag} removeLabel=${`Remove the tag ${tag}`} onRemove=${() => onChange(value.filter((other) => other !== tag))}>${tag}<//>`,
      )}
      <input
        ref=${input}
        id=${id}
        role="combobox"
        autocomplete="off"
        autocapitalize="none"
        aria-autocomplete="list"
        aria-expanded=${isListed}
        aria-controls=${`${id}-list`}
        aria-activedescendant=${isListed && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid=${error ? 'true' : undefined}
        aria-describedby=${described}
        value=${text}
        onInput=${(/** @type {any} */ event) => type(event.target.value)}
        onKeyDown=${onKeyDown}
        onFocus=${() => setOpen(true)}
        onBlur=${() => {
          setOpen(false);
          addTyped();
        }}
      />
      <ul class=${`menu-list start ${isListed ? '' : 'gone'}`} role="listbox" id=${`${id}-list`} aria-label="Existing tags">
        ${isListed &&
        offered.map(
          (tag, index) => html`<li
            role="option"
            id=${`${id}-${index}`}
            class=${`menu-item ${index === active ? 'active' : ''}`}
            aria-selected=${index === active}
            onMouseDown=${(/** @type {Event} */ event) => {
              event.preventDefault();
              add([tag]);
            }}
          >${tag}</li>`,
        )}
      </ul>
    </div>
    ${error && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}
