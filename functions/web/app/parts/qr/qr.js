// The QR code of a link: how it looks, and ways to take it along.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { addressOf } from '../../core/api.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, Field } from '../../ui/field.js';
import { Notice } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { contrastOf, fullColour } from './contrast.js';

/** @typedef {{ short_code: string, short_url: string }} QrLink */
/** @typedef {{ size: string, color: string, background: string, isTransparent: boolean }} Look */

const SIZES = ['256', '512', '1024', '2048'].map((size) => ({ value: size, label: size }));
/** @type {Look} */
const PLAIN = { size: '512', color: '#000000', background: '#ffffff', isTransparent: false };
/** The API draws nothing below. Cameras read less in bad light; three is what graphics need for people, too. */
const LEAST_CONTRAST = 3;

/** @param {{ link: QrLink, onClose: () => void }} props */
export function QrDialog({ link, onClose }) {
  const [look, setLook] = useState(PLAIN);
  const change = (/** @type {Partial<Look>} */ some) => setLook((before) => ({ ...before, ...some }));
  const way = (/** @type {'svg' | 'png'} */ format) =>
    isReadable(look) ? { href: addressOfPicture(link, look, format), download: `${link.short_code}.${format}` } : { disabled: true };
  const copy = () => copyPicture(addressOfPicture(link, look, 'png'));
  const footer = html`<${Button} class="start" disabled=${!isReadable(look)} onClick=${copy}>Copy image<//>
    <${Button} ...${way('svg')}>SVG<//>
    <${Button} kind="primary" ...${way('png')}>PNG<//>`;
  return html`<${Dialog} title="QR code" onClose=${onClose} footer=${footer} isWide>
    <div class="qr">
      <${Preview} link=${link} look=${look} />
      <div class="stack">
        <div class="field">
          <span class="label">Size in pixels</span>
          <${Choice} label="Size in pixels" value=${look.size} options=${SIZES} onChange=${(/** @type {string} */ size) => change({ size })} />
          <p class="hint">For a PNG. An SVG is sharp at any size.</p>
        </div>
        <${Colour} label="Color" value=${look.color} onChange=${(/** @type {string} */ color) => change({ color })} />
        <${Colour} label="Background" value=${look.background} isOff=${look.isTransparent} onChange=${(/** @type {string} */ background) => change({ background })} />
        <${Checkbox} label="Transparent background" checked=${look.isTransparent} onChange=${(/** @type {boolean} */ isTransparent) => change({ isTransparent })} />
        <div role="status">${look.isTransparent && html`<${Notice}>Place it on a light background so that cameras can read it.<//>`}</div>
        ${!look.isTransparent && html`<${Warning} look=${look} />`}
      </div>
    </div>
  <//>`;
}

/** Whether there is a picture of it. What is no colour is left out of its address. @param {Look} look */
function isReadable({ color, background, isTransparent }) {
  const contrast = contrastOf(fullColour(color) ?? PLAIN.color, fullColour(background) ?? PLAIN.background);
  return isTransparent || (contrast?.ratio ?? 0) >= LEAST_CONTRAST;
}

/** @param {QrLink} link @param {Look} look @param {'svg' | 'png'} format */
function addressOfPicture(link, { size, color, background, isTransparent }, format) {
  const query = { format, size, color: fullColour(color)?.slice(1), background: isTransparent ? 'transparent' : fullColour(background)?.slice(1) };
  return addressOf('GET /{code}/qr', { path: { code: link.short_code }, query });
}

/** @param {{ link: QrLink, look: Look }} props */
function Preview({ link, look }) {
  // What is typed or dragged shouldn't ask for each colour on the way.
  const address = useSettled(isReadable(look) ? addressOfPicture(link, look, 'svg') : '');
  const [failed, setFailed] = useState('');
  return html`<figure class="qr-preview">
    <div class=${`qr-picture ${look.isTransparent ? 'transparent' : ''}`}>
      ${!address || !isReadable(look)
        ? html`<p class="muted">Not visible in these colors.</p>`
        : failed === address
        ? html`<p class="muted">Couldn’t load the image.</p><${Button} onClick=${() => setFailed('')}>Try again<//>`
        : html`<img src=${address} width="240" height="240" alt=${`QR code for ${link.short_url}`} onError=${() => setFailed(address)} />`}
    </div>
    <figcaption class="small-print"><bdi>${withoutScheme(link.short_url)}</bdi></figcaption>
  </figure>`;
}

const SETTLED_MS = 150;

/** A value once it stays the same for a moment. @param {string} value */
function useSettled(value) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** A colour, chosen or typed. @param {{ label: string, value: string, isOff?: boolean, onChange: (value: string) => void }} props */
function Colour({ label, value, isOff = false, onChange }) {
  const onInput = (/** @type {any} */ event) => onChange(event.target.value);
  const picker = html`<input type="color" class="colour" aria-label=${`Choose the ${label.toLowerCase()}`} value=${fullColour(value) ?? '#000000'} disabled=${isOff} onInput=${onInput} />`;
  const error = !isOff && !fullColour(value) ? 'Enter a color, such as #1a2b3c.' : undefined;
  return html`<${Field} label=${label} value=${value} error=${error} disabled=${isOff} spellcheck=${false} autocomplete="off" maxlength="7" onInput=${onInput} after=${picker} />`;
}

/** Says when cameras will have trouble. @param {{ look: Look }} props */
function Warning({ look }) {
  if (!isReadable(look)) return html`<${Notice} tone="warn">These colors are too similar for cameras. Make one of them darker or lighter.<//>`;
  if (contrastOf(look.color, look.background)?.isDarkOnLight === false) return html`<${Notice} tone="warn">Some cameras can’t read light on dark.<//>`;
  return null;
}

/** @param {string} address */
async function copyPicture(address) {
  try {
    const picture = fetch(address).then((response) => (response.ok ? response.blob() : Promise.reject(new Error(String(response.status)))));
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })]);
    toast('Image copied.');
  } catch {
    toast('Couldn’t copy the image. Download it instead.', { tone: 'bad' });
  }
}
