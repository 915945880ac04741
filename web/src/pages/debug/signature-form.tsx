import { useState } from 'preact/hooks';
import type { SignatureAnswer } from '../../../../src/console/answers/debug.ts';
import { post } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { hrefTo } from '../../router.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Icon } from '../../ui/icon.tsx';
import { onSubmit } from '../../ui/on-submit.ts';
import { Empty, Show } from '../../ui/states.tsx';

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
          <summary>For a response, or a message that arrived earlier</summary>
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
          <Empty title="Nothing has been checked yet.">
            The header is parsed, the body digested, the key looked up in the registry and the signature
            verified, in the order in which a receiver does it. Nothing is kept. To begin with a real message,
            take one from the <a href={hrefTo('debug', { tab: 'inbox' })}>inbox</a>.
          </Empty>
        )}
      </section>
    </div>
  );
}

const verdicts = {
  holds: { text: 'The signature is valid.', tone: 'good' },
  differs: { text: 'The signature is not valid.', tone: 'bad' },
  unreadable: { text: 'The header cannot be read.', tone: 'bad' },
} as const;

function SignatureReport({ answer }: { answer: SignatureAnswer }) {
  const { text, tone } = verdicts[answer.verdict];
  const { key, signingString, hints, steps } = answer;
  return (
    <>
      <div class={`signature-verdict ${tone}`}>
        <p class="verdict-line">
          <Icon name={tone === 'good' ? 'check' : 'cross'} /> {text}
        </p>
        {answer.differs && <p>{answer.differs}</p>}
      </div>
      {hints.length > 0 && (
        <section class="panel stack">
          <h2>Possible causes</h2>
          <ul class="hints">
            {hints.map((hint) => (
              <li key={hint}>{hint}</li>
            ))}
          </ul>
        </section>
      )}
      <section class="panel stack">
        <h2>Step by step</h2>
        <ol class="checks">
          {steps.map((step) => (
            <Step key={step.step} step={step} />
          ))}
        </ol>
      </section>
      {signingString && (
        <section class="panel stack">
          <h2>Signing string</h2>
          <Code text={signingString} label="signing string" />
        </section>
      )}
      {key && (
        <section class="panel stack">
          <h2>Key</h2>
          <Facts
            facts={[
              ['Identity', key.identity],
              ['Record', key.recordId],
              ['Public key', key.publicKey && <code>{key.publicKey}</code>],
              ['State', <Badge tone={toneOf(key.state)}>{key.state}</Badge>],
            ]}
          />
        </section>
      )}
    </>
  );
}

function Step({ step: { step, ok, detail, expected, got } }: { step: SignatureAnswer['steps'][number] }) {
  return (
    <li class={ok ? 'good' : 'bad'}>
      <Icon name={ok ? 'check' : 'cross'} />
      <div>
        <p>
          <strong>{step}</strong> <span class="hidden">{ok ? 'holds' : 'fails'}</span> {detail}
        </p>
        <Compared name="expected" text={expected} other={got} />
        {got !== expected && <Compared name="got" text={got} other={expected} />}
      </div>
    </li>
  );
}

function Compared({ name, text, other }: { name: string; text?: string; other?: string }) {
  if (text === undefined) return null;
  return (
    <p class="small">
      <span class="soft">{name} </span>
      {other === undefined || other === text ? <code>{text}</code> : <Marked text={text} other={other} />}
    </p>
  );
}

/** Marks the text from the first to the last different character. */
function Marked({ text, other }: { text: string; other: string }) {
  let start = 0;
  while (start < text.length && text[start] === other[start]) start += 1;
  let end = 0;
  while (end < text.length - start && end < other.length - start && text.at(-1 - end) === other.at(-1 - end))
    end += 1;
  const stop = text.length - end;
  return (
    <code>
      {text.slice(0, start)}
      <mark>{text.slice(start, stop)}</mark>
      {text.slice(stop)}
    </code>
  );
}
