// QR codes as they were designed: as an SVG document and as a PNG image, with the same places of everything.

import { freeSideOf, outlineOf, pixelsOf, withFreeMiddle } from './geometry.js';

/** @typedef {import('./matrix.js').Matrix} Matrix */
/** @typedef {import('./logo.js').Logo} Logo */
/** @typedef {{ size: number, margin: number, isRounded: boolean, color: string, background: string | null, logo?: Logo }} Design `background` is null for a transparent one */

/** Modules between a logo and the code. */
const AROUND_LOGO = 0.5;

/** What both consist of. @param {Matrix} matrix @param {Design} design */
function partsOf(matrix, { margin, isRounded, logo }) {
  const path = outlineOf(logo ? withFreeMiddle(matrix) : matrix, margin, isRounded);
  const free = freeSideOf(matrix) - 2 * AROUND_LOGO;
  return { side: matrix.side + 2 * margin, path, logo: logo && placed(logo, matrix.side / 2 + margin, free) };
}

/** As large as there is room in the middle. @param {Logo} logo @param {number} middle @param {number} room */
function placed({ picture, href }, middle, room) {
  const scale = room / Math.max(picture.width, picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  return { picture, href, x: middle - width / 2, y: middle - height / 2, width, height };
}

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * @param {Matrix} matrix
 * @param {Design} design
 * @param {string} shortUrl
 */
export function svgOf(matrix, design, shortUrl) {
  const { side, path, logo } = partsOf(matrix, design);
  const { size, color, background, isRounded } = design;
  const round = (/** @type {number} */ value) => Math.round(value * 1000) / 1000;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${side} ${side}" role="img"><title>QR code of ${escaped(shortUrl)}</title>`,
    background && `<rect width="${side}" height="${side}" fill="${background}"/>`,
    `<path fill="${color}" d="${path}"${isRounded ? '' : ' shape-rendering="crispEdges"'}/>`,
    logo && `<image href="${logo.href}" x="${round(logo.x)}" y="${round(logo.y)}" width="${round(logo.width)}" height="${round(logo.height)}"/>`,
    '</svg>',
  ].filter(Boolean).join('');
}

/**
 * Each module has whole pixels, so that no edge is blurred; pixels that are left over are margin.
 * @param {Matrix} matrix
 * @param {Design} design
 * @returns {Promise<Blob>}
 */
export async function pngOf(matrix, design) {
  const { path, logo } = partsOf(matrix, design);
  const { size, margin, color, background } = design;
  const scale = pixelsOf(size, matrix, margin);
  const canvas = Object.assign(document.createElement('canvas'), { width: size, height: size });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  if (background) {
    pen.fillStyle = background;
    pen.fillRect(0, 0, size, size);
  }
  const first = Math.floor((size - scale * matrix.side) / 2) - scale * margin;
  pen.setTransform(scale, 0, 0, scale, first, first);
  pen.fillStyle = color;
  pen.fill(new Path2D(path));
  pen.imageSmoothingQuality = 'high';
  if (logo) pen.drawImage(logo.picture, logo.x, logo.y, logo.width, logo.height);
  /** @type {Blob | null} */
  const blob = await new Promise((done) => canvas.toBlob(done, 'image/png'));
  if (!blob) throw new Error('Your browser can’t create images.');
  return blob;
}
