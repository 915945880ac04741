import type { ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import { type PageName, route } from './router.ts';
import { Header } from './shell/header.tsx';
import { SignInDialog } from './shell/sign-in.tsx';
import { Loading } from './ui/states.tsx';
import { Toasts } from './ui/toasts.tsx';

/** Each page is a separate chunk: the first load contains the shell and the requested page. */
const pages: Record<PageName, ComponentType> = {
  find: lazy(() => import('./pages/find/find-page.tsx')),
  inspect: lazy(() => import('./pages/inspect/inspect-page.tsx')),
  publish: lazy(() => import('./pages/publish/publish-page.tsx')),
  debug: lazy(() => import('./pages/debug/debug-page.tsx')),
  network: lazy(() => import('./pages/network/network-page.tsx')),
  health: lazy(() => import('./pages/health/health-page.tsx')),
};

export function App() {
  const { page } = route.value;
  const main = useRef<HTMLElement>(null);
  const Page = pages[page];
  const isFirst = useRef(true);
  // The title and the focus, which moves to the new page, announce a change of page to screen readers.
  useEffect(() => {
    document.title = `${page[0]?.toUpperCase()}${page.slice(1)} · Signpost`;
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
    scrollTo(0, 0);
  }, [page]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <Header page={page} />
      <main id="main" ref={main} tabIndex={-1} class={`page page-${page}`}>
        <Suspense fallback={<Loading what="page" />}>
          <Page key={page} />
        </Suspense>
      </main>
      <SignInDialog />
      <Toasts />
    </>
  );
}
