// Texts as they are compared, as far as possible as the API does it.

/** A mapping there and back is Unicode's full case folding, but for the dotless i, whose upper case is that of another letter. @param {string} character */
const withoutCase = (character) => (character === 'ı' ? character : character.toLowerCase().toUpperCase().toLowerCase());

/** What is the same in all spellings of a text: `Straße` and `STRASSE` have it in common. @param {string} text */
export const folded = (text) => Array.from(text.trim().normalize('NFD'), withoutCase).join('').normalize('NFC');

/** @param {string | undefined} one @param {string} other */
export const isSame = (one, other) => one !== undefined && folded(one) === folded(other);

/** What is searched of a text: what is the same in all its spellings, without accents. @param {string} text */
export const searched = (text) => folded(text.normalize('NFD').replace(/\p{M}/gu, ''));
