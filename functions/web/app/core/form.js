// A form: its values, what is wrong with them, and how it is sent.

import { useEffect, useRef, useState } from '../vendor/preact.js';
import { ApiError } from './api.js';
import { guardChanges } from './version.js';

/**
 * @template {Record<string, any>} V
 * @typedef {object} Form
 * @property {V} values
 * @property {Record<string, string>} errors by field
 * @property {ApiError | undefined} failure why sending it failed, if no field is to blame
 * @property {boolean} isBusy
 * @property {boolean} isDirty
 * @property {(name: keyof V & string, value: any) => void} set
 * @property {(name: keyof V & string, error: string) => void} setError
 * @property {(name: keyof V & string, sent: string) => void} empty empties a field, unless something else was written than what was sent
 * @property {(values: V) => void} begin begins anew, with what was read meanwhile
 * @property {(event?: Event) => Promise<void>} submit
 * @property {(name: keyof V & string) => { name: string, value: any, onInput: (event: Event) => void, error?: string }} field what a Field wants
 */

/**
 * @template {Record<string, any>} V
 * @param {V} initial
 * @param {(values: V) => Promise<unknown>} send throws what went wrong
 * @param {object} [options]
 * @param {(values: V) => Record<string, string | undefined>} [options.check] what is wrong before anything is sent
 * @param {boolean} [options.keeps] whether leaving the page with changes asks first
 * @returns {Form<V>}
 */
export function useForm(initial, send, { check = () => ({}), keeps = false } = {}) {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState(/** @type {Record<string, string>} */ ({}));
  const [failure, setFailure] = useState(/** @type {ApiError | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const first = useRef(initial);
  const isDirty = JSON.stringify(values) !== JSON.stringify(first.current);
  const dirty = useRef(isDirty);
  dirty.current = isDirty;
  useEffect(() => guardChanges(() => keeps && dirty.current), []);

  /** @param {string} name @param {any} value */
  function set(name, value) {
    setValues((before) => ({ ...before, [name]: value }));
    setErrors(({ [name]: _, ...others }) => others);
  }

  /** @param {unknown} error */
  function show(error) {
    const failed = error instanceof ApiError ? error : new ApiError('broken', 'Something went wrong.');
    if (failed !== error) console.error(error);
    const { field } = failed;
    if (field && field in values) setErrors({ [field]: failed.message });
    else setFailure(failed);
  }

  /** @param {Event} [event] */
  async function submit(event) {
    event?.preventDefault();
    if (isBusy) return;
    const element = formOf(event);
    setFailure(undefined);
    const wrong = Object.entries(check(values)).filter(([, error]) => error);
    setErrors(Object.fromEntries(/** @type {[string, string][]} */ (wrong)));
    if (wrong.length > 0) return focusFirstError(element);
    setBusy(true);
    try {
      await send(values);
      first.current = values;
    } catch (error) {
      show(error);
      focusFirstError(element);
    } finally {
      setBusy(false);
    }
  }

  return {
    values,
    errors,
    failure,
    isBusy,
    isDirty,
    set,
    setError: (name, error) => setErrors((before) => ({ ...before, [name]: error })),
    empty: (name, sent) => setValues((before) => (before[name] === sent ? { ...before, [name]: '' } : before)),
    begin(read) {
      first.current = read;
      setValues(read);
    },
    submit,
    field: (name) => ({
      name,
      value: values[name],
      onInput: (event) => set(name, /** @type {HTMLInputElement} */ (event.target).value),
      error: errors[name],
    }),
  };
}

/** @param {Event | undefined} event what has sent the form */
const formOf = (event) => /** @type {Element | undefined} */ (event?.target)?.closest?.('form');

/** Once the errors are shown, their summary takes the focus, or else the first field that has one. @param {Element | null | undefined} form */
function focusFirstError(form) {
  setTimeout(() => {
    const shown = form?.querySelector('.form-summary') ?? form?.querySelector('[aria-invalid=true]');
    /** @type {HTMLElement | null | undefined} */ (shown)?.focus();
  });
}
