// A picture for the middle of a QR code.

import { apiUrl } from '../../core/address.js';
import { call } from '../../core/api.js';
import { useResource } from '../../core/resource.js';

/** @typedef {{ picture: HTMLCanvasElement, href: string }} Logo */

/** More pixels than the largest code has room for would only make files larger. */
const MOST_PIXELS = 448;
const MOST_BYTES = 4_000_000;
const FRESH_MS = 60_000;
export const LOGO_TYPES = 'image/png,image/jpeg,image/webp';

/**
 * The same picture, as large as it is needed and without what else its file says.
 * @param {Blob} file
 * @returns {Promise<Logo>}
 */
export async function logoOf(file) {
  if (file.size > MOST_BYTES) throw new Error('Choose an image of at most 4 MB.');
  const image = await createImageBitmap(file).catch(() => {
    throw new Error('Choose a PNG, JPEG or WebP image.');
  });
  const scale = Math.min(1, MOST_PIXELS / Math.max(image.width, image.height));
  const picture = document.createElement('canvas');
  picture.width = Math.max(1, Math.round(image.width * scale));
  picture.height = Math.max(1, Math.round(image.height * scale));
  const pen = /** @type {CanvasRenderingContext2D} */ (picture.getContext('2d'));
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(image, 0, 0, picture.width, picture.height);
  return { picture, href: picture.toDataURL('image/png') };
}

/** The workspace's logo, if it has one. @returns {Logo | undefined} */
export function useWorkspaceLogo() {
  return useResource('workspace-logo', async () => {
    const { logo_url: url } = await call('GET /api/workspace');
    if (!url) return undefined;
    // At the address of this page, whichever domain short URLs have: another site's picture may not be read.
    const response = await fetch(apiUrl(`/api/logos/${url.split('/').pop()}`));
    return response.ok ? logoOf(await response.blob()) : undefined;
  }, { freshMs: FRESH_MS }).data;
}
