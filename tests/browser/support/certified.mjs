// The identity provider `oidc-provider`, which is certified, with one client and everybody as a user. Arguments: where its package is, the
// port, where people are sent back to after signing in, and after signing out.

import { pathToFileURL } from 'node:url';

const [packages, port, back, out] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${packages}/oidc-provider/lib/index.js`).href);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: 'linklet', client_secret: 'certified secret', redirect_uris: [back], post_logout_redirect_uris: [out] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: !id.startsWith('unproven'), name: id }),
  }),
  cookies: { keys: ['of tests'] },
  pkce: { required: () => true },
});
provider.listen(Number(port), '127.0.0.1');
