import type { FindAnswer } from '../../../../src/console/answers/find.ts';
import type { Loaded } from '../../api/load.ts';
import { Facts } from '../../ui/facts.tsx';
import { Show } from '../../ui/states.tsx';
import { spellCount, spellMs } from '../../ui/time.tsx';

export function ExplainTab({ answer }: { answer: Loaded<FindAnswer> }) {
  return (
    <Show of={answer} what="explanation">
      {({ explain, leftOut }) => (
        <div class="stack">
          <p class="soft small">
            The index proposes candidates, and the evaluator decides. The steps are in the order in which they
            ended; {spellMs(explain.ms)} in total.
          </p>
          <ol class="steps">
            {explain.steps.map((step, index) => (
              // A step may occur twice, and the list is never reordered.
              <Step key={index} step={step} whole={explain.ms} />
            ))}
          </ol>
          {leftOut && leftOut.resources > 0 && (
            <p class="small">
              {leftOut.resources}
              {leftOut.orMore ? ' or more' : ''} other resources matched but are not on this page.
            </p>
          )}
        </div>
      )}
    </Show>
  );
}

type ExplainStep = FindAnswer['explain']['steps'][number];

function Step({ step: { step, ms, ...details }, whole }: { step: ExplainStep; whole: number }) {
  const share = ms === undefined || whole <= 0 ? 0 : Math.min(100, (100 * ms) / whole);
  return (
    <li class="step">
      <div class="spread">
        <strong>{step}</strong>
        {ms !== undefined && <span class="soft small nowrap">{spellMs(ms)}</span>}
      </div>
      <span class="share" aria-hidden="true">
        <span style={{ width: `${share}%` }} />
      </span>
      <div class="small">
        <Facts
          facts={Object.entries(details).map(([name, value]) => [spellName(name), <Detail value={value} />])}
        />
      </div>
    </li>
  );
}

function Detail({ value }: { value: unknown }) {
  if (typeof value === 'number') return <>{spellCount(value)}</>;
  if (typeof value !== 'object' || value === null) return <>{String(value)}</>;
  if (!Array.isArray(value)) {
    const known = Object.entries(value).filter(([, member]) => !Array.isArray(member) || member.length > 0);
    return known.map(([name, member]) => (
      <span key={name} class="detail">
        <span class="soft">{spellName(name)}</span> <Detail value={member} />
      </span>
    ));
  }
  if (value.every((one) => typeof one !== 'object')) return <>{value.join(', ')}</>;
  return (
    <ul>
      {value.map((one, index) => (
        // An item may occur twice, and the list is never reordered.
        <li key={index}>
          <Detail value={one} />
        </li>
      ))}
    </ul>
  );
}

/** `standsFor` as "stands for". */
function spellName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
