// A field for several values of a list, which is searched by their names.

import { html, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { Chip } from '../../ui/chips.js';
import { useId } from '../../ui/field.js';
import { isNamed, nameOfValue, optionsFor } from './named.js';
import { MOST_VALUES } from './routing.js';

const NONE = -1;

/**
 * @param {object} props
 * @param {string} props.type of the condition
 * @param {string[]} props.value
 * @param {(value: string[]) => void} props.onChange
 * @param {string} props.label what the list has
 * @param {{ 'aria-invalid'?: string, 'aria-describedby'?: string }} props.known what is known of the field, for screen readers
 */
export function Several({ type, value, onChange, label, known }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(NONE);
  const [isOpen, setOpen] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  const id = useId('several');
  const find = (/** @type {string} */ typed) => optionsFor(type, typed).filter((option) => !value.includes(option.value));
  const offered = isOpen && value.length < MOST_VALUES ? find(text) : [];
  const isListed = offered.length > 0;
  // Below the field there may be no room, until one scrolls.
  useLayoutEffect(() => {
    if (isListed) list.current?.scrollIntoView({ block: 'nearest' });
  }, [isListed]);
  useLayoutEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active]);

  /** @param {string[]} values @param {string} [rest] */
  function add(values, rest = '') {
    if (values.length > 0) onChange([...new Set([...value, ...values])].slice(0, MOST_VALUES));
    setText(rest);
    setActive(NONE);
    // What it would cover is needed next.
    setOpen(rest !== '');
  }

  /** What was typed: the best that it finds. @param {string} typed */
  const firstOf = (typed) => (typed.trim() ? find(typed).slice(0, 1).map((option) => option.value) : []);

  /** The only one, or one with just this name or code. @param {string} typed */
  function sureOf(typed) {
    const [first, second] = find(typed);
    return typed.trim() && first && (!second || isNamed(type, first, typed)) ? [first.value] : [];
  }

  /** A comma ends a name, wherever it comes from. @param {string} typed */
  function write(typed) {
    const parts = typed.split(',');
    const rest = parts.pop() ?? '';
    if (parts.length > 0) return add(parts.flatMap(firstOf), rest.trimStart());
    setText(typed);
    setActive(NONE);
    setOpen(true);
  }

  /** @param {number} to */
  function move(to) {
    const count = find(text).length;
    setOpen(true);
    setActive((to + count) % count);
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const isSaving = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    // Enter would save otherwise.
    if (event.key === 'Enter' && !isSaving && active >= 0) add([offered[active].value]);
    else if (event.key === 'Enter' && !isSaving && text.trim()) add(firstOf(text));
    else if (event.key === 'Enter' && !isSaving) setOpen(true);
    else if (event.key === 'Backspace' && text === '') return onChange(value.slice(0, -1));
    else if (event.key === 'ArrowDown') move(active + 1);
    else if (event.key === 'ArrowUp') move(Math.max(active, 0) - 1);
    else if (event.key === 'Escape' && isListed) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const keep = (/** @type {Event} */ event) => event.preventDefault();
  return html`<div class="tag-input several" onClick=${() => input.current?.focus()}>
    ${value.map((one) => {
      const name = nameOfValue(type, one);
      return html`<${Chip} key=${one} removeLabel=${`Remove ${name}`} onRemove=${() => onChange(value.filter((other) => other !== one))}>${name}<//>`;
    })}
    <input
      ...${known}
      ref=${input}
      role="combobox"
      aria-label="Value"
      placeholder=${value.length > 0 ? '' : `Search ${label.toLowerCase()}`}
      autocomplete="off"
      autocapitalize="none"
      spellcheck=${false}
      aria-autocomplete="list"
      aria-expanded=${isListed}
      aria-controls=${`${id}-list`}
      aria-activedescendant=${isListed && active >= 0 ? `${id}-${active}` : undefined}
      value=${text}
      onInput=${(/** @type {any} */ event) => write(event.target.value)}
      onKeyDown=${onKeyDown}
      onFocus=${() => setOpen(!known['aria-invalid'])}
      onClick=${() => setOpen(true)}
      onBlur=${() => add(sureOf(text))}
    />
    <ul ref=${list} class=${`menu-list start ${isListed ? '' : 'gone'}`} role="listbox" id=${`${id}-list`} aria-label=${label} onMouseDown=${keep}>
      ${offered.map(
        (option, index) => html`<li
          key=${option.value}
          role="option"
          id=${`${id}-${index}`}
          class=${`menu-item ${index === active ? 'active' : ''}`}
          aria-selected=${index === active}
          onClick=${() => add([option.value])}
        ><span class="menu-label">${option.label}</span>${(type === 'country' || type === 'language') && html`<span class="menu-note">${option.value}</span>`}</li>`,
      )}
    </ul>
  </div>`;
}
