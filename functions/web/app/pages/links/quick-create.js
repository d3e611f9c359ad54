// The field on top: a long URL goes in, and a short one is in the clipboard.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { guessUrl } from '../../core/address.js';
import { counted } from '../../core/format.js';
import { session } from '../../core/session.js';
import { MOD, usePaste, useShortcuts } from '../../core/shortcuts.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icons.js';
import { Lazy } from '../../ui/lazy.js';
import { FormFailure, Notice, useCountdown } from '../../ui/states.js';
import { giveUp, makeLink, places, quick, tryAgain } from './quick-queue.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('./quick-queue.js').QueuedUrl} QueuedUrl */

const loadSeveral = () => import('../../parts/new-links/new-links.js');

/**
 * @param {object} props
 * @param {(link: Link) => void} props.onLink
 * @param {(code: string) => void} props.onUndone
 * @param {(link: Link) => void} props.edit
 * @param {(url: string) => void} props.openOptions
 * @param {() => void} props.prepareOptions
 * @param {() => void} [props.onMany] is told when several links were made at once
 */
export function QuickCreate({ onLink, onUndone, edit, openOptions, prepareOptions, onMany = () => {} }) {
  const { text, error, queue } = useStore(quick);
  const [several, setSeveral] = useState(/** @type {{ text: string } | null} */ (null));
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const failed = queue.filter((wanted) => wanted.error);
  const count = queue.length - failed.length;
  const making = count > 0 ? `Creating ${counted(count, 'link')}…` : '';

  const place = useRef({ onLink, onUndone, edit });
  place.current = { onLink, onUndone, edit };
  useEffect(() => {
    places.add(place);
    return () => void places.delete(place);
  }, []);
  useEffect(() => {
    if (error && isNear(input.current)) input.current?.focus();
  }, [error]);

  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    makeLink();
  };
  useEffect(() => {
    if (!session.get().isNewcomer) return;
    session.set({ isNewcomer: false });
    input.current?.focus();
  }, []);

  const openSeveral = () => setSeveral({ text: '' });
  const closeSeveral = () => setSeveral(null);
  /** Several addresses don't fit into the field. @param {string} pasted */
  function takeSeveral(pasted) {
    const areSeveral = pasted.split(/[\r\n]+/).filter((line) => line.split(/[\t;,]/).some((cell) => guessUrl(cell))).length > 1;
    if (areSeveral) setSeveral({ text: pasted });
    return areSeveral;
  }
  const onPaste = (/** @type {ClipboardEvent} */ event) => takeSeveral(event.clipboardData?.getData('text/plain') ?? '') && event.preventDefault();

  usePaste((pasted) => {
    if (takeSeveral(pasted)) return true;
    if (!guessUrl(pasted)) return false;
    if (text === '') quick.set({ text: pasted });
    // What is there already isn't lost: pasted once more, the text takes its place.
    else input.current?.select();
    input.current?.focus();
    return true;
  });
  useShortcuts('Links', [{ keys: `${MOD} V`, text: 'Paste a URL' }, { keys: 'c', text: 'Create a link', act: () => openOptions(text) }, { keys: 'C', text: 'Bulk create', act: openSeveral }]);
  return html`${several && html`<${Lazy} load=${loadSeveral} name="NewLinks" ...${several} onMade=${onMany} onFailure=${closeSeveral} onClose=${closeSeveral} />`}
  <form class="quick" novalidate onSubmit=${submit}>
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
        placeholder=${making || 'Paste a long URL'}
        value=${text}
        aria-invalid=${error ? 'true' : undefined}
        aria-describedby=${error ? 'quick-error' : undefined}
        onInput=${(/** @type {any} */ event) => quick.set({ text: event.target.value })}
        onPaste=${onPaste}
      />
      <${Button} kind="quiet" icon="several" class="quick-other" aria-label="Bulk create" onClick=${openSeveral}>Bulk create<//>
      <${Button} kind="quiet" icon="settings" class="quick-other" aria-label="More options" onClick=${() => openOptions(text)} onPointerEnter=${prepareOptions} onFocus=${prepareOptions}>More options<//>
      <${Button} kind="primary" type="submit" isBusy=${count > 0}>Shorten<//>
    </div>
    <p class="hidden" role="status">${making}</p>
    ${text && html`<${Lazy} load=${() => import('../../parts/short-link/short-link.js')} name="ShortLink" text=${text} onText=${(/** @type {string} */ found) => quick.set({ text: found })} />`}
    ${error && html`<div id="quick-error"><${FormFailure} error=${error} /></div>`}
    ${failed.length > 0 && html`<${Failed} list=${failed} />`}
  </form>`;
}

/** Whether nothing else is being used. @param {HTMLInputElement | null} input */
const isNear = (input) => document.activeElement === document.body || input?.form?.contains(document.activeElement);

/** What couldn't be made, and can't go back into the field, where something else stands. @param {{ list: QueuedUrl[] }} props */
function Failed({ list }) {
  const wait = useCountdown(list[list.length - 1].error);
  return html`<${Notice} tone="bad">
    <p><strong>${list.length === 1 ? 'Couldn’t create this link.' : 'Couldn’t create these links.'}</strong></p>
    <ul class="quick-failed">
      ${list.map(
        (wanted) => html`<li key=${wanted.id}>
          <span><bdi>${wanted.typed}</bdi> <span class="muted">${wanted.error?.message}</span></span>
          <${Button} kind="quiet" icon="close" label=${`Dismiss ${wanted.typed}`} onClick=${() => giveUp(wanted)} />
        </li>`,
      )}
    </ul>
    <${Button} icon="refresh" disabled=${wait > 0} onClick=${tryAgain}>${wait > 0 ? `Try again in ${wait} s` : 'Try again'}<//>
  <//>`;
}
