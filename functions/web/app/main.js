// Where the application begins.

import { h, render } from './vendor/preact.js';
import { start } from './core/session.js';
import { watchComingBack } from './core/coming-back.js';
import { watchConnection } from './core/connection.js';
import { watchVersion } from './core/version.js';
import { App } from './frame/app.js';

watchComingBack();
watchConnection();
watchVersion();
render(h(App, {}), /** @type {HTMLElement} */ (document.getElementById('app')));
start();
// An address such as `/app?url=…` fills in the form of a new link.
if (location.search) void import('./parts/given/given.js').then(({ openGiven }) => openGiven());
