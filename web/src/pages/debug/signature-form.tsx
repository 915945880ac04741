import { useState } from 'preact/hooks';
import type { SignatureAnswer } from '../../../../src/console/answers/debug.ts';
import { post } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { onSubmit } from '../../ui/on-submit.ts';
import { Empty, Show } from '../../ui/states.tsx';
import { SignatureReport } from './signature-report.tsx';

export interface SignatureQuestion {
  header: string;
  body: string;
  now?: string;
  requestAuthorization?: string;
}

interface FormProps {
  question: SignatureQuestion;
  change(question: SignatureQuestion): void;
}

export function SignatureForm({ question, change }: FormProps) {
  const [asked, setAsked] = useState<SignatureQuestion>();
  const answer = useLoad(asked && JSON.stringify(asked), (signal) =>
    post<SignatureAnswer>('/api/debug/signature', asked, signal),
  );
  const submit = () => (asked === question ? answer.reload() : setAsked(question));
  const field = (name: keyof SignatureQuestion) => ({
    value: question[name] ?? '',
    spellcheck: false,
    onInput: (event: { currentTarget: { value: string } }) =>
      change({ ...question, [name]: event.currentTarget.value }),
  });
  return (
    <div class="debug">
      <form class="panel stack" onSubmit={onSubmit(submit)}>
        <label class="field">
          <span>Authorization header, or all headers</span>
          <textarea
            rows={5}
            required
            placeholder={'Signature keyId="provider.example.org|key-1|ed25519",algorithm="ed25519",…'}
            {...field('header')}
          />
        </label>
        <label class="field">
          <span>Body, exactly as it was sent</span>
          <textarea rows={12} placeholder='{"context":{…},"message":{…}}' {...field('body')} />
        </label>
        <details>
          <summary>It answers another request, or was sent earlier</summary>
          <div class="stack more-fields">
            <label class="field">
              <span>Authorization header of the request that it answers</span>
              <textarea rows={3} {...field('requestAuthorization')} />
            </label>
            <label class="field">
              <span>When it arrived (now, if empty)</span>
              <input placeholder="2026-01-31T12:00:00Z" {...field('now')} />
            </label>
          </div>
        </details>
        <div>
          <button type="submit" class="primary" disabled={answer.loading || question.header.trim() === ''}>
            Check the signature
          </button>
        </div>
      </form>
      <section class="stack" aria-label="Result" aria-live="polite">
        {asked ? (
          <Show of={answer} what="result">
            {(data) => <SignatureReport answer={data} />}
          </Show>
        ) : (
          <Empty title="Nothing is checked yet.">
            The header is parsed, the body digested, the key looked up in the registry and the signature
            verified, in the order in which a receiver does it. Nothing is kept. To begin with a real message,
            take one from the <a href={hrefTo('debug', { tab: 'inbox' })}>inbox</a>.
          </Empty>
        )}
      </section>
    </div>
  );
}
