// How values of clicks are called.

import { hostOf, regionName, withoutScheme } from '../../core/format.js';

/** @type {Record<string, string>} */
const SPECIAL = { unknown: 'Unknown', '(other)': 'Other' };

/** A browser or a system. @param {string} value */
export const valueName = (value) => SPECIAL[value] ?? value;

/** @param {string | null} code */
export function countryName(code) {
  if (code === null) return 'Unknown';
  return SPECIAL[code] ?? regionName(code);
}

/** @param {string} text */
const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {string} device */
export const deviceName = (device) => capitalized(device);

/** Where a link has led: its own target, a rule or a variant, by name or by number. @param {string} destination */
export function destinationName(destination) {
  const hasName = !/^(target|(rule|variant) \d+)$/.test(destination);
  return SPECIAL[destination] ?? (hasName ? destination : capitalized(destination));
}

/** @type {Record<string, string>} */
const SOURCES = { qr: 'QR code', campaign: 'Campaign', link: 'Link on a page or in an app', direct: 'Direct' };

/** How a visitor came upon a link. @param {string} source */
export const sourceName = (source) => SOURCES[source] ?? source;

/** @type {Record<string, string>} */
const AUDIENCE_NAMES = { human: 'Human', bot: 'Bot', prefetch: 'Preview' };

/** @param {string} audience */
export const audienceName = (audience) => AUDIENCE_NAMES[audience] ?? audience;

/** The site where somebody came from; an app is its own. @param {string} referer */
export const siteOfReferer = (referer) => (/^https?:/i.test(referer) && hostOf(referer)) || referer;

/** An address where somebody came from, as breakdowns have it: without query. @param {string} referer */
export const pageOfReferer = (referer) => withoutScheme(referer.split(/[?#]/)[0]);
