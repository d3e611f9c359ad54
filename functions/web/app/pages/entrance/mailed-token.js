import { useState } from '../../vendor/preact.js';
import { useForm } from '../../core/form.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';

/**
 * What a page does with the token of a mail once its button is pressed, and whether that was done or is too late. Nothing happens
 * before, since programs open the links in mails, too.
 * @param {(token: string) => Promise<unknown>} send
 */
export function useMailedToken(send) {
  const token = useStore(route).query.get('token') ?? '';
  const [isDone, setDone] = useState(false);
  const form = useForm({}, async () => {
    await send(token);
    setDone(true);
  });
  return { form, isDone, isSpent: !token || form.failure?.code === 'token_invalid' };
}
