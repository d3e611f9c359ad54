import { useEffect, useState } from '../../vendor/preact.js';
import { useResource } from '../../core/resource.js';
import { pngOf, svgOf } from './draw.js';
import { designOf, fitting, levelOf, PLAIN } from './look.js';
import { readMatrix } from './matrix.js';

/** @typedef {import('./look.js').Look} Look */
/** @typedef {import('./preview.js').QrLink} QrLink */
/** @typedef {'svg' | 'png'} Format */

export const loadDownload = () => import('../download/download.js');

/** What is chosen, and the modules that a link takes then. @param {QrLink} link */
export function useLook(link) {
  const [look, setLook] = useState(PLAIN);
  const level = levelOf(look);
  const matrix = useResource(`qr:${link.short_code}:${level}`, () => readMatrix(link.short_code, level), { freshMs: Infinity });
  useEffect(() => void loadDownload().catch(() => {}), []);
  return { look, change: (/** @type {Partial<Look>} */ some) => setLook((before) => ({ ...before, ...some })), matrix };
}

/** @param {Format} format @param {import('./matrix.js').Matrix} matrix @param {Look} look @param {QrLink} link @returns {Promise<Blob>} */
export async function drawn(format, matrix, look, link) {
  const design = designOf(fitting(look, matrix));
  return format === 'png' ? pngOf(matrix, design) : new Blob([svgOf(matrix, design, link.short_url)], { type: 'image/svg+xml' });
}
