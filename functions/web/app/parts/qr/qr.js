// The QR code of a link, or those of several: how they look, and ways to take them along. The API has the modules, and the browser draws them.

import { html } from '../../vendor/preact.js';
import { loadStyles } from '../../core/styles.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { drawn, loadDownload, useLook } from './chosen.js';
import { isReadable, LookFields } from './look.js';
import { Preview } from './preview.js';

export { QrCodesDialog } from './many.js';

/** @typedef {import('./chosen.js').Format} Format */

await loadStyles(new URL('./qr.css', import.meta.url));

/** @param {{ link: import('./preview.js').QrLink, onClose: () => void }} props */
export function QrDialog({ link, onClose }) {
  const { look, change, matrix } = useLook(link);
  const isReady = matrix.data !== undefined && isReadable(look);
  const draw = (/** @type {Format} */ format) => drawn(format, /** @type {import('./matrix.js').Matrix} */ (matrix.data), look, link);
  const keep = (/** @type {Format} */ format) => async () => {
    try {
      const { save } = await loadDownload();
      save(await draw(format), `${link.short_code}.${format}`);
    } catch (error) {
      toastFailure('Couldn’t save the file.', error);
    }
  };
  const footer = html`<${Button} class="start" disabled=${!isReady} onClick=${() => copyPicture(draw('png'))}>Copy image<//>
    <${Button} disabled=${!isReady} onClick=${keep('svg')}>SVG<//>
    <${Button} kind="primary" disabled=${!isReady} onClick=${keep('png')}>PNG<//>`;
  return html`<${Dialog} title="QR code" onClose=${onClose} footer=${footer} isWide>
    <div class="qr"><${Preview} link=${link} look=${look} matrix=${matrix} /><${LookFields} look=${look} matrix=${matrix.data} change=${change} /></div>
  <//>`;
}

/** @param {Promise<Blob>} picture */
async function copyPicture(picture) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })]);
    toast('Image copied.');
  } catch {
    toast('Couldn’t copy the image. Download it instead.', { tone: 'bad' });
  }
}
