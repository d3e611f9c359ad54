import { html, useMemo } from '../../vendor/preact.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { svgOf } from './draw.js';
import { designOf, isReadable } from './look.js';

/** @typedef {{ short_code: string, short_url: string }} QrLink */

/** @param {{ link: QrLink, look: import('./look.js').Look, matrix: import('../../core/resource.js').Resource<import('./matrix.js').Matrix> }} props */
export function Preview({ link, look, matrix: { data, error, reload } }) {
  const address = useMemo(() => data && `data:image/svg+xml,${encodeURIComponent(svgOf(data, designOf(look), link.short_url))}`, [data, look]);
  return html`<figure class="qr-preview">
    <div class=${`qr-picture ${look.isTransparent ? 'transparent' : ''}`}>
      ${!isReadable(look)
        ? html`<p class="muted">Not visible in these colors.</p>`
        : address
        ? html`<img src=${address} width="240" height="240" alt=${`QR code for ${link.short_url}`} />`
        : error && html`<p class="muted">Couldn’t load the image.</p><${Button} onClick=${reload}>Try again<//>`}
    </div>
    <figcaption class="small-print"><bdi>${withoutScheme(link.short_url)}</bdi></figcaption>
  </figure>`;
}
