/** So many rem in pixels, for what isn't laid out by styles. @param {number} count */
export const rem = (count) => count * parseFloat(getComputedStyle(document.documentElement).fontSize);
