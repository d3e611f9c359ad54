// Runs before RapiDoc, which is a module, so RapiDoc finds everything set.
const page = document.querySelector('rapi-doc');

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => page.setAttribute('theme', dark.matches ? 'dark' : 'light');
dark.addEventListener('change', setTheme);
setTheme();

// RapiDoc puts the address of a server after the origin as it is, but the document's is relative to the document, since the
// API need not be at the root of its host.
page.addEventListener('before-render', ({ detail: { spec } }) => {
  const document = new URL(page.getAttribute('spec-url'), location);
  spec.servers = spec.servers.map((server) => ({ ...server, url: new URL(server.url, document).href.replace(/\/$/, '') }));
});
