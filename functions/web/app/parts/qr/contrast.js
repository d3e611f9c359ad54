// How well two colours can be told apart (WCAG 2).

/** @param {string} first such as `#1a2b3c` @param {string} second */
export function contrastOf(first, second) {
  const [dark, light] = [luminance(first), luminance(second)];
  const ratio = (Math.max(dark, light) + 0.05) / (Math.min(dark, light) + 0.05);
  return { ratio, isInverted: dark > light };
}

/** @param {string} color */
function luminance(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => linear(parseInt(color.slice(at, at + 2), 16) / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {number} value */
const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
