import { live } from '../api/events.ts';
import { isOperator, session, sessionFailed, signIn, signOut } from '../api/session.ts';
import { hrefTo, type PageName, pageNames } from '../router.ts';
import { chooseTheme, isDark } from '../theme.ts';
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
        <LiveMark />
        <ThemeSwitch />
        <OperatorButton />
      </div>
    </header>
  );
}

function LiveMark() {
  const lost = live.value === 'lost' || sessionFailed.value;
  const text = lost ? 'Not connected' : live.value === 'live' ? 'Live' : 'Connecting';
  return (
    <span class={`live ${lost ? 'lost' : live.value}`} role="status" title={liveTitle(lost)}>
      <span class="dot" aria-hidden="true" />
      <span class="live-text">{text}</span>
    </span>
  );
}

function liveTitle(lost: boolean): string {
  if (lost) return 'The console does not answer. The page connects again by itself.';
  const { version, defaultNetwork } = session.value ?? {};
  return version === undefined
    ? 'Changes appear by themselves.'
    : `Signpost ${version}, network ${defaultNetwork}`;
}

function ThemeSwitch() {
  const dark = isDark.value;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={dark ? 'Use light colours' : 'Use dark colours'}
      title={dark ? 'Light' : 'Dark'}
      onClick={() => chooseTheme(dark ? 'light' : 'dark')}
    >
      <Icon name={dark ? 'sun' : 'moon'} />
    </button>
  );
}

function OperatorButton() {
  if (isOperator.value)
    return (
      <button type="button" class="quiet" onClick={() => void signOut()}>
        Sign out
      </button>
    );
  return (
    <button type="button" class="quiet" onClick={() => void signIn()}>
      Sign in
    </button>
  );
}
