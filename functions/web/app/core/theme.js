// Light or dark: what the system says, or what was chosen in the settings.

const THEME_KEY = 'linklet:theme';

/** @typedef {'system' | 'light' | 'dark'} Theme */

/** @returns {Theme} */
export function chosenTheme() {
  const stored = localStorage.getItem(THEME_KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** @param {Theme} theme */
export function chooseTheme(theme) {
  if (theme === 'system') localStorage.removeItem(THEME_KEY);
  else localStorage.setItem(THEME_KEY, theme);
  applyTheme();
}

export function applyTheme() {
  const theme = chosenTheme();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event('themechange'));
}
