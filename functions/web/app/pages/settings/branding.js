// What the workspace shows of itself on the pages that visitors see.

import { html, useRef, useState } from '../../vendor/preact.js';
import { apiUrl } from '../../core/address.js';
import { ApiError, call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { useResource } from '../../core/resource.js';
import { contrastOf } from '../../parts/qr/contrast.js';
import { Button } from '../../ui/button.js';
import { Field, useId } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { FormFailure, Loaded, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { readWorkspace } from './workspace-form.js';

/** @typedef {import('./workspace-form.js').Workspace} Workspace */
/** @typedef {(change: (workspace: Workspace) => Workspace) => void} Show */

const COLOR = /^#[0-9a-f]{6}$/i;
const PLAIN = '#2f5bd7';
const LOGO_BYTES = 65_536;
const LOGO_SIDE = 1_024;
const WRONG_LOGO = 'Use a PNG of at most 64 KB and 1,024 × 1,024 pixels.';
const LOOKS_HEIGHT = 380;

export function Branding() {
  const resource = useResource('workspace', readWorkspace);
  return html`<${Card} title="Branding">
    <${Loaded} of=${resource} what="Couldn’t load the branding." waiting=${html`<${Skeleton} height=${LOOKS_HEIGHT} />`}>
      ${(/** @type {Workspace} */ workspace) => html`<div class="stack">
        <p class="muted">Visitors see this when a link asks for a password, hasn’t started, has expired, was disabled or was deleted.</p>
        <${Logo} workspace=${workspace} show=${resource.change} />
        <${Looks} workspace=${workspace} show=${resource.change} />
      </div>`}
    <//>
  <//>`;
}

/** @param {{ workspace: Workspace, show: Show }} props */
function Looks({ workspace, show }) {
  const base = useRef({ color: workspace.color ?? '', contact: workspace.contact ?? '' });
  const form = useForm(
    base.current,
    async (values) => {
      const wanted = { color: values.color.trim(), contact: values.contact.trim() };
      const { color, contact } = await call('PATCH /api/workspace', { body: wanted });
      base.current = { color: color ?? '', contact: contact ?? '' };
      form.begin(base.current);
      show((before) => ({ ...before, color, contact }));
      toast('Branding saved.');
    },
    { check: ({ color }) => ({ color: !color.trim() || COLOR.test(color.trim()) ? undefined : 'Enter # and six digits, such as #2f5bd7.' }), keeps: true },
  );
  const { values, set, field } = form;
  const shown = COLOR.test(values.color.trim()) ? values.color.trim() : PLAIN;
  const picker = html`<input type="color" class="colour" aria-label="Choose the color" value=${shown} onInput=${(/** @type {any} */ event) => set('color', event.target.value)} />`;
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Color" isOptional class="code-input" spellcheck="false" autocapitalize="none" placeholder=${PLAIN} after=${picker} hint="For the top border and the button of these pages." ...${field('color')} />
    <${Field} label="Contact" isOptional placeholder="help@example.com" autocapitalize="none" spellcheck="false" hint="An email address or a URL that starts with https://. Anyone can see it." ...${field('contact')} />
    <${Preview} workspace=${workspace} color=${shown} contact=${values.contact.trim()} />
    <p><${Button} kind="primary" type="submit" isBusy=${form.isBusy} disabled=${!form.isDirty}>Save branding<//></p>
  </form>`;
}

/** The page that asks for a password, as it will be. @param {{ workspace: Workspace, color: string, contact: string }} props */
function Preview({ workspace, color, contact }) {
  const ink = ratio(color, '#000000') > ratio(color, '#ffffff') ? '#000000' : '#ffffff';
  const { rules } = useRegistration();
  const logo = rules.registration === 'open' ? undefined : logoAddress(workspace);
  return html`<figure class="brand-preview" aria-label="Preview">
    <div style=${{ borderTopColor: color }}>
      ${logo && html`<img src=${logo} alt="" />`}
      <strong>This link needs a password</strong>
      <span class="brand-button" style=${{ background: color, color: ink }}>Open link</span>
      <p class="small-print">Shared by <b><bdi>${workspace.name}</bdi></b>${contact && html`. Ask for the password: <bdi>${contact.replace(/^https:\/\/|\/+$/g, '')}</bdi>`}</p>
    </div>
  </figure>`;
}

/** @param {string} color @param {string} background */
const ratio = (color, background) => contrastOf(color, background)?.ratio ?? 0;

/** Where the logo is at the address of this page, whichever domain short URLs have. @param {{ logo_url: string | null }} workspace */
function logoAddress({ logo_url: url }) {
  const id = url?.split('/').pop();
  return id && apiUrl(`/api/logos/${id}`);
}

/** @param {{ workspace: Workspace, show: Show }} props */
function Logo({ workspace, show }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const { rules } = useRegistration();
  const id = useId('logo');
  const address = logoAddress(workspace);

  /** @param {() => Promise<void>} act */
  async function attempt(act) {
    setBusy(true);
    setError('');
    await act().catch((failure) => setError(failure instanceof ApiError ? failure.message : WRONG_LOGO));
    setBusy(false);
  }

  /** @param {File | undefined} file */
  const upload = (file) =>
    file &&
    attempt(async () => {
      const png = await encoded(file);
      const { logo_url } = await call('PUT /api/workspace/logo', { body: { png } });
      show((before) => ({ ...before, logo_url }));
      toast('Logo saved.');
    });
  const remove = () =>
    attempt(async () => {
      await call('DELETE /api/workspace/logo');
      show((before) => ({ ...before, logo_url: null }));
      toast('Logo removed.');
    });
  const choose = (/** @type {any} */ event) => {
    void upload(event.target.files[0]);
    // The same file can be chosen again.
    event.target.value = '';
  };
  const where = rules.registration === 'open' ? 'Visitors don’t see it here, since anyone can register.' : 'PNG, at most 64 KB and 1,024 × 1,024 pixels.';
  return html`<div class="field" role="group" aria-labelledby=${id}>
    <span class="label" id=${id}>Logo <span class="optional">optional</span></span>
    ${address && html`<p><img class="brand-logo" src=${address} alt="Logo of the workspace" /></p>`}
    <div class="row">
      <input ref=${input} hidden type="file" accept="image/png" aria-label="Choose a PNG" onChange=${choose} />
      <${Button} isBusy=${isBusy} aria-describedby=${`${id}-hint`} onClick=${() => input.current?.click()}>${address ? 'Replace logo' : 'Upload logo'}<//>
      ${address && html`<${Button} kind="quiet" disabled=${isBusy} onClick=${remove}>Remove<span class="hidden"> logo</span><//>`}
    </div>
    ${error && html`<p class="field-error" role="alert">${error}</p>`}
    <p class="hint" id=${`${id}-hint`}>${where}</p>
  </div>`;
}

/** A file in base64, if it can be a logo. @param {File} file @returns {Promise<string>} */
async function encoded(file) {
  if (file.type !== 'image/png' || file.size > LOGO_BYTES) throw new TypeError(WRONG_LOGO);
  const picture = await createImageBitmap(file);
  if (Math.max(picture.width, picture.height) > LOGO_SIDE) throw new TypeError(WRONG_LOGO);
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1]);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
