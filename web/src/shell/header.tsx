import { live } from '../api/events.ts';
import { isOperator, session, sessionFailed, signIn, signOut } from '../api/session.ts';
import { guideUrl, hrefTo, type PageName, pageNames } from '../router.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

const pages: Record<PageName, { label: string; icon: IconName; guide: string }> = {
  find: { label: 'Find', icon: 'search', guide: 'query-as-an-app.md' },
  inspect: { label: 'Inspect', icon: 'chain', guide: 'self-hosting.md' },
  publish: { label: 'Publish', icon: 'upload', guide: 'publishing.md' },
  debug: { label: 'Debug', icon: 'key', guide: 'troubleshooting.md' },
  network: { label: 'Network', icon: 'nodes', guide: 'operating.md' },
  health: { label: 'Health', icon: 'pulse', guide: 'observability.md' },
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
            <Icon name={pages[name].icon} />
            <span>{pages[name].label}</span>
          </a>
        ))}
      </nav>
      <div class="top-end">
        <a class="help" href={guideUrl(pages[page].guide)}>
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
