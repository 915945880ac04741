import { useEffect, useRef, useState } from 'preact/hooks';
import { sendToken, tokenWanted } from '../api/session.ts';
import { onSubmit } from '../ui/on-submit.ts';

/** Appears before a change: reading needs no token on the machine itself. */
export function SignInDialog() {
  const done = tokenWanted.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (done) dialog.current?.showModal();
    else dialog.current?.close();
  }, [done]);
  return (
    <dialog ref={dialog} aria-labelledby="sign-in-title" onClose={() => done?.(false)}>
      {done && <TokenForm done={done} />}
    </dialog>
  );
}

function TokenForm({ done }: { done(signedIn: boolean): void }) {
  const [token, setToken] = useState('');
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const reason = await sendToken(token.trim());
    setBusy(false);
    setFault(reason);
    if (reason === undefined) done(true);
  };
  return (
    <form class="stack" onSubmit={onSubmit(submit)}>
      <h2 id="sign-in-title">Sign in as the operator</h2>
      <p class="soft">
        Changes need a token: your own (<code>signpost operators create</code>), or the operator token in the
        file <code>operator-token</code> of the data directory (<code>.signpost</code> unless DATA_DIR says
        otherwise).
      </p>
      <label class="field">
        <span>Operator token</span>
        <input
          type="password"
          name="token"
          autocomplete="current-password"
          required
          value={token}
          aria-describedby={fault ? 'sign-in-fault' : undefined}
          aria-invalid={fault !== undefined}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      <p id="sign-in-fault" class="fault" role="alert">
        {fault}
      </p>
      <div class="actions">
        <button type="button" class="quiet" onClick={() => done(false)}>
          Not now
        </button>
        <button type="submit" class="primary" disabled={busy || token.trim() === ''}>
          Sign in
        </button>
      </div>
    </form>
  );
}
