// How well two colours can be told from each other, as WCAG computes it.

/** `#abc`, `abc` or `#aabbcc` as `#aabbcc`; nothing if it is no colour. @param {string} text */
export function fullColour(text) {
  const [, digits] = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim()) ?? [];
  if (!digits) return undefined;
  return `#${digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits}`.toLowerCase();
}

/** @param {string} colour `#aabbcc` */
function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * @param {string} colour
 * @param {string} background
 * @returns {{ ratio: number, isDarkOnLight: boolean } | null} nothing if one of them is no colour
 */
export function contrastOf(colour, background) {
  const [front, back] = [fullColour(colour), fullColour(background)];
  if (!front || !back) return null;
  const [one, other] = [luminance(front), luminance(back)];
  return { ratio: (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), isDarkOnLight: one < other };
}
