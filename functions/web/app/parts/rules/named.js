// What conditions choose from, each with its name.

import { searched } from '../../core/folding.js';

/** @typedef {{ value: string, label: string }} Option */

/** @type {Option[]} */
export const DEVICES = [
  { value: 'ios', label: 'iPhone or iPad' },
  { value: 'android', label: 'Android' },
  { value: 'mobile', label: 'Any phone or tablet' },
  { value: 'windows', label: 'Windows' },
  { value: 'macos', label: 'Mac' },
  { value: 'linux', label: 'Linux' },
  { value: 'chromeos', label: 'Chromebook' },
  { value: 'desktop', label: 'Any computer' },
];
/** @type {Option[]} */
export const BROWSERS = [
  { value: 'chrome', label: 'Chrome' },
  { value: 'edge', label: 'Edge' },
  { value: 'firefox', label: 'Firefox' },
  { value: 'safari', label: 'Safari' },
  { value: 'opera', label: 'Opera' },
  { value: 'samsung', label: 'Samsung Internet' },
];
/** ISO 3166-1, and Kosovo. */
const COUNTRIES =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW'.split(
    ' ',
  );
/** What browsers ask for often. Others can be written. */
const LANGUAGES =
  'af am ar az be bg bn bs ca cs cy da de de-AT de-CH el en en-AU en-CA en-GB en-IN en-US es es-ES es-MX et eu fa fi fil fr fr-CA fr-CH ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my nb ne nl nl-BE nn no pa pl pt pt-BR pt-PT ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh zh-CN zh-HK zh-TW zu'.split(
    ' ',
  );
const LANGUAGE = /^[a-z]{2,3}(-[0-9a-z]{2,8}){0,2}$/i;

/** By the language of the browser, and in English, by which one searches, too. */
const NAMES = [undefined, 'en'].map((locale) => ({
  country: new Intl.DisplayNames(locale, { type: 'region' }),
  language: new Intl.DisplayNames(locale, { type: 'language' }),
}));

/** @param {string} type @param {string} value @param {number} [at] in which of the languages */
export function nameOfValue(type, value, at = 0) {
  if (type !== 'country' && type !== 'language') return [...DEVICES, ...BROWSERS].find((option) => option.value === value)?.label ?? value;
  try {
    return NAMES[at][type].of(value) ?? value;
  } catch {
    return value;
  }
}

/** @param {'country' | 'language'} type @param {string[]} values */
const sortedByName = (type, values) => values.map((value) => ({ value, label: nameOfValue(type, value) })).sort((one, other) => one.label.localeCompare(other.label));

/** @type {Record<string, Option[]>} */
const OPTIONS = { device: DEVICES, browser: BROWSERS, country: sortedByName('country', COUNTRIES), language: sortedByName('language', LANGUAGES) };

const BEST = 0;
const BEGINS = 1;
const CONTAINS = 2;
const NOT = 3;

/** How well a text fits an option. @param {string} type @param {Option} option @param {string} wanted */
function fitOf(type, { value, label }, wanted) {
  const texts = [label, nameOfValue(type, value, 1)].map(searched);
  const coded = searched(value);
  if (coded === wanted || texts.includes(wanted)) return BEST;
  if (texts.some((text) => text.split(/[\s(]+/).some((_, at, words) => words.slice(at).join(' ').startsWith(wanted)))) return BEGINS;
  return texts.some((text) => text.includes(wanted)) || coded.startsWith(wanted) ? CONTAINS : NOT;
}

/** Whether an option has this name or code. @param {string} type @param {Option} option @param {string} text */
export const isNamed = (type, option, text) => fitOf(type, option, searched(text)) === BEST;

/** What a text finds, the best first; a language that isn't listed may be written. @param {string} type @param {string} text @returns {Option[]} */
export function optionsFor(type, text) {
  const wanted = searched(text);
  if (!wanted) return OPTIONS[type];
  const found = OPTIONS[type].map((option) => ({ option, fit: fitOf(type, option, wanted) })).filter(({ fit }) => fit < NOT);
  if (type === 'language' && LANGUAGE.test(text.trim()) && !found.some(({ fit }) => fit === BEST)) found.push({ option: { value: text.trim(), label: nameOfValue(type, text.trim()) }, fit: NOT });
  return found.sort((one, other) => one.fit - other.fit).map(({ option }) => option);
}
