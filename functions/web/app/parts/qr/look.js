// How a QR code is to look, as it is chosen, and what of it cameras can read.

import { html, useRef, useState } from '../../vendor/preact.js';
import { Choice } from '../../ui/chips.js';
import { Checkbox, Field } from '../../ui/field.js';
import { Notice } from '../../ui/states.js';
import { contrastOf, fullColour } from './contrast.js';
import { readableSizes } from './geometry.js';
import { LOGO_TYPES, logoOf, useWorkspaceLogo } from './logo.js';

/** @typedef {import('./draw.js').Design} Design */
/** @typedef {import('./logo.js').Logo} Logo */
/** @typedef {{ size: number, color: string, background: string, isTransparent: boolean, margin: number, isRounded: boolean, logo?: Logo, logoFrom: 'none' | 'workspace' | 'file' }} Look */

const SIZES = [256, 512, 1024, 2048];
const MARGINS = Array.from({ length: 11 }, (_, margin) => margin);
/** What the standard demands around a code. */
const WHOLE_MARGIN = 4;
/** The API draws nothing below. Cameras read less in bad light; three is what graphics need for people, too. */
const LEAST_CONTRAST = 3;

/** @type {Look} */
export const PLAIN = { size: 512, color: '#000000', background: '#ffffff', isTransparent: false, margin: WHOLE_MARGIN, isRounded: false, logoFrom: 'none' };

/** Whether cameras can tell the colours from each other. What is no colour is left out. @param {Look} look */
export function isReadable({ color, background, isTransparent }) {
  const contrast = contrastOf(fullColour(color) ?? PLAIN.color, fullColour(background) ?? PLAIN.background);
  return isTransparent || (contrast?.ratio ?? 0) >= LEAST_CONTRAST;
}

/** @param {Look} look @returns {Design} */
export const designOf = ({ size, color, background, isTransparent, margin, isRounded, logo }) => ({
  size,
  margin,
  isRounded,
  color: fullColour(color) ?? PLAIN.color,
  background: isTransparent ? null : (fullColour(background) ?? PLAIN.background),
  logo,
});

/** What hides a part of the code needs the rest to make up for it. @param {Look} look @returns {import('./matrix.js').Level} */
export const levelOf = ({ logo }) => (logo ? 'H' : 'M');

/** The size that is wanted, or the smallest that can be read. @param {Look} look @param {import('./matrix.js').Matrix} matrix @returns {Look} */
export function fitting(look, matrix) {
  const sizes = readableSizes(SIZES, matrix, look.margin);
  return sizes.includes(look.size) ? look : { ...look, size: sizes[0] ?? SIZES[SIZES.length - 1] };
}

/** @param {{ look: Look, matrix?: import('./matrix.js').Matrix, change: (some: Partial<Look>) => void }} props */
export function LookFields({ look, matrix, change }) {
  const sizes = matrix ? readableSizes(SIZES, matrix, look.margin) : SIZES;
  const shown = matrix ? fitting(look, matrix) : look;
  return html`<div class="stack">
    <div class="field">
      <span class="label">Size in pixels</span>
      <${Choice} label="Size in pixels" value=${String(shown.size)} options=${sizes.map((size) => ({ value: String(size), label: String(size) }))} onChange=${(/** @type {string} */ size) => change({ size: Number(size) })} />
      <p class="hint">For a PNG. An SVG is sharp at any size.</p>
    </div>
    <div class="qr-colours">
      <${Colour} label="Color" value=${look.color} onChange=${(/** @type {string} */ color) => change({ color })} />
      <${Colour} label="Background" value=${look.background} isOff=${look.isTransparent} onChange=${(/** @type {string} */ background) => change({ background })} />
    </div>
    <${Checkbox} label="Transparent background" checked=${look.isTransparent} onChange=${(/** @type {boolean} */ isTransparent) => change({ isTransparent })} />
    <${Checkbox} label="Rounded" checked=${look.isRounded} onChange=${(/** @type {boolean} */ isRounded) => change({ isRounded })} />
    <${Field} as="select" label="Margin" value=${String(look.margin)} hint="In squares of the code. Cameras expect 4." onChange=${(/** @type {any} */ event) => change({ margin: Number(event.target.value) })}>
      ${MARGINS.map((margin) => html`<option value=${String(margin)} selected=${margin === look.margin}>${margin}</option>`)}
    <//>
    <${LogoField} look=${look} change=${change} />
    <div role="status">
      ${look.isTransparent && html`<${Notice}>Place it on a light background so that cameras can read it.<//>`}
      ${look.margin < WHOLE_MARGIN && html`<${Notice}>Leave empty space around it so that cameras can read it.<//>`}
    </div>
    ${!look.isTransparent && html`<${Warning} look=${look} />`}
  </div>`;
}

/** A colour, chosen or typed. @param {{ label: string, value: string, isOff?: boolean, onChange: (value: string) => void }} props */
function Colour({ label, value, isOff = false, onChange }) {
  const onInput = (/** @type {any} */ event) => onChange(event.target.value);
  const picker = html`<input type="color" class="colour" aria-label=${`Choose the ${label.toLowerCase()}`} value=${fullColour(value) ?? '#000000'} disabled=${isOff} onInput=${onInput} />`;
  const error = !isOff && !fullColour(value) ? 'Enter a color, such as #1a2b3c.' : undefined;
  return html`<${Field} label=${label} value=${value} error=${error} disabled=${isOff} spellcheck=${false} autocomplete="off" maxlength="7" onInput=${onInput} after=${picker} />`;
}

/** @param {{ look: Look, change: (some: Partial<Look>) => void }} props */
function LogoField({ look, change }) {
  const ofWorkspace = useWorkspaceLogo();
  const [error, setError] = useState('');
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const options = [{ value: 'none', label: 'None' }, ...(ofWorkspace ? [{ value: 'workspace', label: 'Workspace logo' }] : []), { value: 'file', label: 'Choose a file' }];
  const choose = (/** @type {Look['logoFrom']} */ logoFrom) => {
    setError('');
    if (logoFrom === 'file') return input.current?.click();
    return change({ logoFrom, logo: logoFrom === 'workspace' ? ofWorkspace : undefined });
  };
  /** @param {any} event */
  const take = async ({ target }) => {
    const [file] = target.files;
    // The same file can be chosen again.
    target.value = '';
    if (!file) return;
    try {
      change({ logoFrom: 'file', logo: await logoOf(file) });
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : '');
    }
  };
  return html`<div class="field">
    <span class="label">Logo</span>
    <${Choice} label="Logo" value=${look.logoFrom} options=${options} onChange=${choose} />
    <input type="file" ref=${input} hidden accept=${LOGO_TYPES} onChange=${take} />
    <div role="alert">${error && html`<p class="field-error">${error}</p>`}</div>
    ${look.logo && html`<p class="hint">The code has more squares, so cameras can read it around the logo.</p>`}
  </div>`;
}

/** Says when cameras will have trouble. @param {{ look: Look }} props */
function Warning({ look }) {
  if (!isReadable(look)) return html`<${Notice} tone="warn">These colors are too similar for cameras. Make one of them darker or lighter.<//>`;
  if (contrastOf(look.color, look.background)?.isDarkOnLight === false) return html`<${Notice} tone="warn">Some cameras can’t read light on dark.<//>`;
  return null;
}
