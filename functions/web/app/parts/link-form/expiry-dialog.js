import { html, useState } from '../../vendor/preact.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Expiry, expiryError } from './expiry.js';

/**
 * Asks when some links stop working.
 * @param {{ count: string, onClose: () => void, onDone: (expiry: string | null) => void }} props
 */
export function ExpiryDialog({ count, onClose, onDone }) {
  const [expiry, setExpiry] = useState(/** @type {string | null} */ (null));
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined));
  const choose = (/** @type {string | null} */ chosen) => {
    setExpiry(chosen);
    setError(undefined);
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const wrong = expiryError(expiry);
    if (wrong) setError(wrong);
    else onDone(expiry);
  };
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="primary" type="submit">Change ${count}<//>`;
  return html`<${Dialog} title=${`Expiration of ${count}`} onClose=${onClose} onSubmit=${submit} footer=${footer}>
    <${Expiry} value=${expiry} onChange=${choose} error=${error} />
  <//>`;
}
