// Runs before RapiDoc, which is a module, so RapiDoc finds everything set.
const page = document.querySelector('rapi-doc');

const dark = matchMedia('(prefers-color-scheme: dark)');
// The tokens of the application. RapiDoc computes shades, so it needs one colour of each pair.
const token = (name) => {
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const [, light, night] = value.match(/^light-dark\((.+), (.+)\)$/) ?? [];
  return (dark.matches ? night : light) ?? value;
};
const LOOKS = {
  'bg-color': '--ground',
  'text-color': '--text',
  'primary-color': '--accent',
  'nav-bg-color': '--surface',
  'nav-text-color': '--muted',
  'nav-hover-bg-color': '--raised',
  'nav-hover-text-color': '--text',
  'nav-accent-color': '--accent',
  'nav-accent-text-color': '--on-accent',
  'regular-font': '--font',
  'mono-font': '--mono',
};
const setTheme = () => {
  page.setAttribute('theme', dark.matches ? 'dark' : 'light');
  for (const [attribute, name] of Object.entries(LOOKS)) page.setAttribute(attribute, token(name));
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

// `docs_url` of a problem leads to `#` and its code, which RapiDoc soon replaces by what is in view.
const wanted = location.hash.slice(1);

const giveProblemsHeadings = (spec) => {
  const rows = [...spec.components.schemas.ProblemCode.description.matchAll(/^\| `(\w+)` \| (\d+) \| (.*) \|$/gm)];
  const problems = rows.map(([, code, status, when]) => `### ${code}\n\n${status}: ${when}`);
  spec.info.description += ['\n\n## Problems', ...problems].join('\n\n');
  if (rows.some(([, code]) => code === wanted)) {
    page.addEventListener('spec-loaded', () => setTimeout(() => page.scrollToPath(`overview--${wanted}`)), { once: true });
  }
};

// How an operation is called: with the examples of its parameters and body, and as somebody if it isn't public.
const giveSamples = (spec) => {
  const base = spec.servers[0].url;
  const resolved = (one) => (one.$ref ? spec.components.parameters[one.$ref.split('/').at(-1)] : one);
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const [method, operation] of Object.entries(item).filter(([, { responses }]) => responses)) {
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolved);
      const isNeeded = ({ in: place, required }) => place === 'path' || (place === 'query' && required);
      const examples = parameters.filter(isNeeded).map(({ name, in: place, example }) => ({ name, place, value: encodeURIComponent(example) }));
      const filled = examples.filter(({ place }) => place === 'path').reduce((text, { name, value }) => text.replace(`{${name}}`, value), path);
      const query = examples.filter(({ place }) => place === 'query').map(({ name, value }) => `${name}=${value}`);
      const url = [base + filled.replaceAll('%3A', ':'), ...query].join('?');
      const { example, schema } = operation.requestBody?.content?.['application/json'] ?? {};
      const body = example ?? schema?.example;
      operation['x-codeSamples'] = samplesOf({ method: method.toUpperCase(), url, body, isPublic: operation.security?.length === 0 });
    }
  }
};

const samplesOf = ({ method, url, body, isPublic }) => {
  const json = body && JSON.stringify(body, null, 2);
  const quoted = json?.replaceAll("'", "'\\''");
  const python = json?.replace(/\b(true|false|null)\b(?=,?$)/gm, (word) => ({ true: 'True', false: 'False', null: 'None' })[word]);
  const curl = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`, !isPublic && `-H "Authorization: Bearer $KEY"`, json && `--json '${quoted}'`];
  const requests = [`"${url}"`, !isPublic && 'headers={"Authorization": f"Bearer {key}"}', json && `json=${python}`];
  const fetched = [`method: '${method}'`, !isPublic && 'headers: { Authorization: `Bearer ${key}` }', json && `body: JSON.stringify(${json})`];
  const joined = (parts, by) => parts.filter(Boolean).join(by);
  return [
    { lang: 'bash', label: 'curl', source: joined(curl, ' \\\n  ') },
    { lang: 'python', label: 'Python', source: `import requests\n\nanswer = requests.${method.toLowerCase()}(\n    ${joined(requests, ',\n    ')},\n)\nprint(answer.json())` },
    { lang: 'typescript', label: 'TypeScript', source: `const answer = await fetch('${url}', {\n  ${joined(fetched, ',\n  ')},\n});\nconsole.log(await answer.json());` },
  ];
};

page.addEventListener('before-render', ({ detail: { spec } }) => {
  giveProblemsHeadings(spec);
  callThisSystem(spec);
  giveSamples(spec);
  nameExamples(spec);
  leaveOptionalsEmpty(spec);
});
