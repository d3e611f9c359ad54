import { useState } from '../../vendor/preact.js';
import { passwordError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';

/**
 * The form of a password that is chosen with a mailed token, and whether it was accepted. The token is spent after a problem with
 * one of the codes `refusals`.
 *
 * @param {(body: { token: string, password: string }) => Promise<unknown>} send
 * @param {string[]} refusals
 */
export function useNewPassword(send, refusals) {
  const { query } = useStore(route);
  const token = query.get('token') ?? '';
  const [isDone, setDone] = useState(false);
  const form = useForm(
    { password: '' },
    async ({ password }) => {
      await send({ token, password });
      setDone(true);
    },
    { check: ({ password }) => ({ password: passwordError(password) }) },
  );
  return { form, isDone, isSpent: !token || refusals.includes(form.failure?.code ?? '') };
}
