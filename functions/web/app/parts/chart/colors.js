// The colours of the styles as a canvas needs them.

/**
 * @param {Element} element from whose place they are taken
 * @param {string[]} names of variables, such as `--accent`
 * @returns {Record<string, string>}
 */
export function colorsOf(element, names) {
  const probe = document.createElement('span');
  element.append(probe);
  const found = names.map((name) => {
    probe.style.color = `var(${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(found);
}

/** A colour that lets through what is behind it. @param {string} color as `rgb(1, 2, 3)` @param {number} share */
export const faded = (color, share) => color.replace('rgb(', 'rgba(').replace(')', `, ${share})`);

/** Calls back when the colours have changed. @param {() => void} callback @returns {() => void} ends it */
export function watchTheme(callback) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', callback);
  addEventListener('themechange', callback);
  return () => {
    dark.removeEventListener('change', callback);
    removeEventListener('themechange', callback);
  };
}
