// What clicks had in common: a panel for each kind of values, and a menu of files that have the same.

export { KINDS, NONE, OTHERS, rowsOf } from './kinds.js';
export { audienceName, countryName, deviceName, siteOfReferer, sourceName, valueName } from './names.js';
export { Panel } from './panel.js';
export { SaveMenu } from './save-menu.js';
