import { live } from '../api/events.ts';
import { isOperator, session, sessionFailed, signIn, signOut } from '../api/session.ts';
import { hrefTo, type PageName, pageNames } from '../router.ts';
import { guides, guideUrl } from '../ui/guide.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

const titles: Record<PageName, { label: string; icon: IconName }> = {
  find: { label: 'Find', icon: 'search' },
  inspect: { label: 'Inspect', icon: 'chain' },
  publish: { label: 'Publish', icon: 'upload' },
  debug: { label: 'Debug', icon: 'key' },
  network: { label: 'Network', icon: 'nodes' },
  health: { label: 'Health', icon: 'pulse' },
};

export function Header({ page }: { page: PageName }) {
  return (
    <header class="top">
      <a class="brand" href={hrefTo('find')} aria-label="Signpost, start page">
        <Icon name="signpost" />
        <span>Signpost</span>
      </a>
      <nav aria-label="Pages" class="pages">
        {pageNames.map((name) => (
          <a key={name} href={hrefTo(name)} aria-current={name === page ? 'page' : undefined}>
            <Icon name={titles[name].icon} />
            <span>{titles[name].label}</span>
          </a>
        ))}
      </nav>
      <div class="top-end">
        <a class="help" href={guideUrl(guides[page])}>
          Guide
        </a>
        <a class="help" href="docs">
          API
        </a>
        <LiveMark />
        <OperatorButton />
      </div>
    </header>
  );
}

function LiveMark() {
  const state = sessionFailed.value ? 'lost' : live.value;
  return (
    <span class={`live ${state}`} role="status" title={liveTitle(state)}>
      <span class="dot" aria-hidden="true" />
      <span class="hidden-on-phones">{liveTexts[state]}</span>
    </span>
  );
}

const liveTexts: Record<typeof live.value, string> = {
  connecting: 'Connecting',
  live: 'Live',
  polling: 'Not live',
  lost: 'Not connected',
};

function liveTitle(state: typeof live.value): string {
  if (state === 'lost') return 'The console does not answer. The page reconnects automatically.';
  if (state === 'polling' && session.value?.needsToken && !isOperator.value)
    return 'Sign in to see changes as they happen.';
  if (state === 'polling')
    return 'Too many pages of this console are open. This page is updated every 15 seconds; close other pages to see changes as they happen.';
  const { version, defaultNetwork } = session.value ?? {};
  return version === undefined
    ? 'Changes appear automatically.'
    : `Signpost ${version}, network ${defaultNetwork}`;
}

function OperatorButton() {
  const operator = session.value?.operator;
  const title = operator && `Signed in as ${operator.name}, role ${operator.role}`;
  return (
    <button type="button" class="quiet" title={title} onClick={() => void (operator ? signOut() : signIn())}>
      {operator ? 'Sign out' : 'Sign in'}
    </button>
  );
}
