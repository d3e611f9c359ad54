// Runs before RapiDoc, which is a module, so RapiDoc finds everything set.
const page = document.querySelector('rapi-doc');

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => {
  page.setAttribute('theme', dark.matches ? 'dark' : 'light');
  // RapiDoc's own dark text is too dim to be read with ease.
  page.setAttribute('text-color', dark.matches ? '#e4e4e4' : '#333333');
  page.setAttribute('primary-color', dark.matches ? '#7aa7ff' : '#2563c9');
};
dark.addEventListener('change', setTheme);
setTheme();

// The document names no system, since it is for all; the page calls the one that serves it. The API need not be at the root of
// its host.
const callThisSystem = (spec) => {
  const document = new URL(page.getAttribute('spec-url'), location);
  spec.servers = [{ url: new URL('..', document).href.replace(/\/$/, '') }];
};

const operationsOf = (spec) => Object.values(spec.paths).flatMap((path) => Object.values(path));

// RapiDoc 9.3.8 takes the members of an `example` for examples, and fails if one is null. It shows `examples` as they are.
const nameExamples = (spec) => {
  const bodies = operationsOf(spec).flatMap(({ requestBody, responses }) => [requestBody, ...Object.values(responses ?? {})]);
  for (const type of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
    if (type.example !== undefined) {
      type.examples = { Example: { value: type.example } };
      delete type.example;
    }
  }
};

// Otherwise every request would be sent with all optional parameters, such as the cursor of somebody else's page.
const leaveOptionalsEmpty = (spec) => {
  const ofPaths = Object.values(spec.paths).flatMap(({ parameters }) => parameters ?? []);
  const ofOperations = operationsOf(spec).flatMap(({ parameters }) => parameters ?? []);
  for (const parameter of [...ofPaths, ...ofOperations]) {
    if (!parameter.required) parameter['x-fill-example'] = 'no';
  }
};

// `docs_url` of a problem leads to `#` and its code. RapiDoc names the headings of the overview in its own way.
const giveProblemsHeadings = (spec) => {
  const rows = spec.components.schemas.ProblemCode.description.matchAll(/^\| `(\w+)` \| (\d+) \| (.*) \|$/gm);
  const problems = [...rows].map(([, code, status, when]) => ({ code, text: `### ${code}\n\n${status}: ${when}` }));
  spec.info.description += ['\n\n## Problems', ...problems.map(({ text }) => text)].join('\n\n');
  const show = () => {
    const code = location.hash.slice(1);
    if (problems.some((problem) => problem.code === code)) location.replace(`#overview--${code}`);
  };
  addEventListener('hashchange', show);
  show();
};

page.addEventListener('before-render', ({ detail: { spec } }) => {
  giveProblemsHeadings(spec);
  callThisSystem(spec);
  nameExamples(spec);
  leaveOptionalsEmpty(spec);
});
