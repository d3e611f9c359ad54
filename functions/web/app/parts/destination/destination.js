// Leads the visitors of a link elsewhere, where the workspace allows it.

import { html, useRef } from '../../vendor/preact.js';
import { guessUrl } from '../../core/address.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { changeUnlessOvertaken } from '../overtaken/overtaken.js';

/** @typedef {import('../../core/lists.js').Link} Link */

const REMEMBERED_SECONDS = 90;

/** @param {{ link: Link, onSaved: (link: Link) => void, onClose: () => void }} props */
export function DestinationDialog({ link, onSaved, onClose }) {
  const shown = useRef(link);
  const form = useForm(
    { url: '' },
    async ({ url }) => {
      const path = { code: link.short_code };
      const saved = await changeUnlessOvertaken(shown, {
        members: { url: 'destination' },
        valuesOf: ({ original_url }) => ({ url: original_url }),
        read: () => call('GET /api/links/{code}', { path, tagged: true }),
        send: (ifMatch) => call('PATCH /api/links/{code}', { path, body: { url: guessUrl(url) }, ifMatch }),
      });
      toast('Destination changed.');
      onSaved(saved);
      onClose();
    },
    { check: ({ url }) => ({ url: guessUrl(url) ? undefined : 'Enter a URL that starts with http:// or https://.' }), keeps: true },
  );
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Change destination<//>`;
  return html`<${Dialog} title="Change destination" onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <${FormFailure} error=${form.failure} />
    <div class="form-target">
      <p class="small muted">Current destination</p>
      <p><bdi>${withoutScheme(shown.current.original_url)}</bdi></p>
    </div>
    <${Field} label="New destination" type="url" inputmode="url" spellcheck=${false} autocomplete="off" placeholder="https://" autofocus ...${form.field('url')} />
    <p class="hint">Browsers may remember the old destination for up to ${REMEMBERED_SECONDS} seconds. The link’s history shows the change.</p>
  <//>`;
}
