import { html } from '../../vendor/preact.js';
import { day } from '../../core/format.js';
import { CopyField } from '../../parts/copy-field/copy-field.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { CodeExample, examplesFor } from './examples.js';

/** @typedef {{ key: string, prefix: string, name: string, scopes: string[], expires_at: string | null }} NewKey */

/** The only time a key is shown. @param {{ created: NewKey, onClose: () => void }} props */
export function CreatedKey({ created, onClose }) {
  const [example] = examplesFor(created.scopes);
  const end = created.expires_at ? `It expires on ${day(created.expires_at)}.` : 'It never expires.';
  return html`<${Dialog}
    title=${html`<bdi>${created.name}</bdi> is ready`}
    isWide
    mustAnswer
    onClose=${onClose}
    footer=${html`<${Button} onClick=${onClose}>Done<//>`}
  >
    <${CopyField} label="API key" text=${created.key} hint=${`Copy it now. It won’t be shown again. Anyone who has it can use it, so store it like a password. ${end}`} />
    <${CodeExample} example=${example} apiKey=${created.key} />
  <//>`;
}
