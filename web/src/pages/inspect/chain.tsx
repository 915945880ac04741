import { useState } from 'preact/hooks';
import type { ChainLink } from '../../../../src/console/answers/inspect.ts';
import { Facts } from '../../ui/facts.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Ago, spellBytes } from '../../ui/time.tsx';

const states: Record<ChainLink['state'], { icon: IconName; words: string }> = {
  ok: { icon: 'check', words: 'is complete' },
  warning: { icon: 'warning', words: 'is complete, with a warning' },
  broken: { icon: 'cross', words: 'is broken' },
  unseen: { icon: 'dash', words: 'was not reached' },
};

/** The label of a link's time. For other links, it is the time when their file was fetched. */
const timeLabels: Record<string, string> = {
  publish: 'Accepted',
  stored: 'Last changed',
  push: 'Acknowledged',
  indexed: 'Indexed',
};

/** The chain of trust: each link vouches for the next one, so nothing after a broken link is reached. */
export function Chain({ links }: { links: readonly ChainLink[] }) {
  const firstFault = links.findIndex(({ state }) => state === 'broken');
  const firstWarning = links.findIndex(({ state }) => state === 'warning');
  const [picked, setPicked] = useState<number>();
  const chosen =
    picked ?? (firstFault >= 0 ? firstFault : firstWarning >= 0 ? firstWarning : links.length - 1);
  const link = links[chosen];
  return (
    <>
      <ol class="chain">
        {links.map(({ link, state, title }, index) => (
          <li key={`${link} ${title}`} class={state}>
            <button type="button" aria-pressed={index === chosen} onClick={() => setPicked(index)}>
              <span class="chain-mark">
                <Icon name={states[state].icon} />
              </span>
              <span class="chain-name">{link}</span>
              <span class="hidden">{states[state].words}</span>
            </button>
          </li>
        ))}
      </ol>
      {link && <LinkDetails link={link} />}
    </>
  );
}

function LinkDetails({ link }: { link: ChainLink }) {
  const { link: name, state, title, detail, expected, got, key, at, bytes, url, code, hint } = link;
  return (
    <div class={`link-details ${state}`} role="status">
      <h3>{title}</h3>
      <p>{detail}</p>
      {hint && (
        <p>
          <strong>What to do:</strong> {hint}
        </p>
      )}
      <Facts
        facts={[
          ['Expected', expected && <code>{expected}</code>],
          ['Got', got && <code>{got}</code>],
          ['Key', key && <code>{key}</code>],
          [timeLabels[name] ?? 'Checked', at && <Ago at={at} />],
          ['Size', bytes !== undefined && spellBytes(bytes)],
          ['Address', url && <code>{url}</code>],
          ['Code', code && <code>{code}</code>],
        ]}
      />
    </div>
  );
}
