import type { SignatureAnswer, SignatureStep } from '../../../../src/console/answers/debug.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Code } from '../../ui/code.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Icon } from '../../ui/icon.tsx';

const verdicts = {
  holds: { text: 'The signature is valid.', tone: 'good' },
  differs: { text: 'The signature is not valid.', tone: 'bad' },
  unreadable: { text: 'The header cannot be read.', tone: 'bad' },
} as const;

export function SignatureReport({ answer }: { answer: SignatureAnswer }) {
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
          <h2>What it may be</h2>
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

function Step({ step: { step, ok, detail, expected, got } }: { step: SignatureStep }) {
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
