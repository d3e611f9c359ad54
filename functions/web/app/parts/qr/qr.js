// The QR code of a link, as one wants it: seen, downloaded, copied.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { apiUrl } from '../../core/address.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Notice } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { contrastOf } from './contrast.js';

const SIZES = [256, 512, 1024, 2048];
// Below it, some readers fail.
const ENOUGH_CONTRAST = 3;

/** @param {{ link: { short_code: string, short_url: string }, onClose: () => void }} props */
export function QrDialog({ link, onClose }) {
  const [size, setSize] = useState('512');
  const [color, setColor] = useState('#000000');
  const [background, setBackground] = useState('#ffffff');
  const address = (/** @type {'svg' | 'png'} */ format) => {
    const query = new URLSearchParams({ format, size, color: color.slice(1), background: background.slice(1) });
    return apiUrl(`/${link.short_code}/qr?${query}`);
  };
  const colorField = (/** @type {string} */ value, /** @type {(value: string) => void} */ set) => ({
    type: 'color',
    class: 'color',
    value,
    onInput: (/** @type {any} */ event) => set(event.target.value),
  });
  const download = (/** @type {'svg' | 'png'} */ format) =>
    html`<${Button} kind=${format === 'svg' ? 'primary' : 'plain'} href=${address(format)} download=${`${link.short_code}.${format}`}>${format.toUpperCase()}<//>`;
  const footer = html`<${Button} icon="copy" onClick=${() => copyPicture(address('png'))}>Copy<//>${download('png')}${download('svg')}`;
  return html`<${Dialog} title="QR code" isWide onClose=${onClose} footer=${footer}>
    <div class="qr">
      <${Preview} src=${address('svg')} name=${withoutScheme(link.short_url)} />
      <div class="stack">
        <p class="small muted">${withoutScheme(link.short_url)}</p>
        <div>
          <p class="qr-label" id="qr-size">Size in pixels</p>
          <${Choice} label="Size in pixels" value=${size} onChange=${setSize} options=${SIZES.map((one) => ({ value: String(one), label: String(one) }))} />
        </div>
        <div class="row">
          <${Field} label="Colour" ...${colorField(color, setColor)} />
          <${Field} label="Background" ...${colorField(background, setBackground)} />
        </div>
        <${Contrast} color=${color} background=${background} />
      </div>
    </div>
  <//>`;
}

/** @param {{ src: string, name: string }} props */
function Preview({ src, name }) {
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => setFailed(false), [src]);
  if (hasFailed) return html`<p class="qr-picture failed">The picture can’t be shown. Try again in a moment.</p>`;
  return html`<img class="qr-picture" src=${src} alt=${`QR code of ${name}`} width="200" height="200" onError=${() => setFailed(true)} />`;
}

/** @param {{ color: string, background: string }} props */
function Contrast({ color, background }) {
  const { ratio, isInverted } = contrastOf(color, background);
  if (ratio < ENOUGH_CONTRAST) return html`<${Notice} tone="warn">These colours are too much alike: many phones won’t read the code.<//>`;
  if (isInverted) return html`<${Notice} tone="warn">Light on dark: some readers expect it the other way round.<//>`;
  return null;
}

/** @param {string} url */
async function copyPicture(url) {
  try {
    const png = fetch(url).then((answer) => (answer.ok ? answer.blob() : Promise.reject(new Error(String(answer.status)))));
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
    toast('Picture copied.');
  } catch {
    toast('Your browser doesn’t allow copying pictures. Download it instead.', { tone: 'bad' });
  }
}
