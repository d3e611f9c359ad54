// The field on top: a long URL goes in, and a short one is in the clipboard.

import { html, useRef, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { guessUrl } from '../../core/address.js';
import { newId } from '../../core/random.js';
import { invalidate } from '../../core/resource.js';
import { useShortcuts } from '../../core/shortcuts.js';
import { Button } from '../../ui/button.js';
import { copyText } from '../../ui/copy.js';
import { Icon } from '../../ui/icons.js';
import { FormFailure } from '../../ui/states.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** @typedef {import('../../core/lists.js').Link} Link */

/**
 * @param {object} props
 * @param {(link: Link) => void} props.onLink
 * @param {(code: string) => void} props.onUndone
 * @param {(link: Link) => void} props.edit
 * @param {(url: string) => void} props.openOptions
 * @param {() => void} props.prepareOptions
 */
export function QuickCreate({ onLink, onUndone, edit, openOptions, prepareOptions }) {
  const [url, setUrl] = useState('');
  const [error, setError] = useState(/** @type {ApiError | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const attempt = useRef({ url: '', id: '' });
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (isBusy) return;
    const target = guessUrl(url);
    if (!target) return fail(new ApiError('problem', 'Paste an address that begins with http:// or https://.'));
    // A repeated attempt is the same one, should the answer have been lost.
    if (attempt.current.url !== target) attempt.current = { url: target, id: newId() };
    setBusy(true);
    try {
      const made = await call('POST /api/shorten', { body: { url: target }, idempotencyKey: attempt.current.id });
      attempt.current = { url: '', id: '' };
      setUrl('');
      setError(undefined);
      await announce(made);
    } catch (failure) {
      fail(/** @type {ApiError} */ (failure));
    } finally {
      setBusy(false);
    }
  }

  /** @param {ApiError} failure */
  function fail(failure) {
    setError(failure);
    input.current?.focus();
  }

  /** @param {any} made */
  async function announce(made) {
    const isCopied = await copyText(made.short_url);
    const link = await call('GET /api/links/{code}', { path: { code: made.short_code } });
    onLink(link);
    invalidate('overview');
    const editing = { label: 'Edit', act: () => edit(link) };
    const copied = isCopied ? ' Copied.' : '';
    if (made.reused) return toast(`You already had this one.${copied}`, { actions: [editing] });
    toast(`Link created.${copied}`, { actions: [editing, { label: 'Undo', act: () => undo(made.short_code) }] });
  }

  /** @param {string} code */
  async function undo(code) {
    try {
      await call('DELETE /api/links/{code}', { path: { code } });
      onUndone(code);
      toast('The link is gone.');
    } catch (failure) {
      toastFailure('The link wasn’t removed.', failure);
    }
  }

  useShortcuts('Links', [{ keys: 'c', text: 'Create a link', act: () => openOptions(url) }]);
  return html`<form class="quick" novalidate onSubmit=${submit}>
    <div class="quick-field">
      <${Icon} name="links" />
      <label class="hidden" for="quick-url">Paste a long URL</label>
      <input
        id="quick-url"
        ref=${input}
        type="url"
        inputmode="url"
        autocomplete="off"
        spellcheck=${false}
        placeholder="Paste a long URL"
        value=${url}
        aria-invalid=${error ? 'true' : undefined}
        aria-describedby=${error ? 'quick-error' : undefined}
        onInput=${(/** @type {any} */ event) => setUrl(event.target.value)}
      />
      <${Button} kind="quiet" icon="settings" class="options" aria-label="Options" onClick=${() => openOptions(url)} onPointerEnter=${prepareOptions} onFocus=${prepareOptions}>Options<//>
      <${Button} kind="primary" type="submit" isBusy=${isBusy}>Shorten<//>
    </div>
    ${error && html`<div id="quick-error"><${FormFailure} error=${error} /></div>`}
  </form>`;
}
