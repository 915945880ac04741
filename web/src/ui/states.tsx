import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.ts';
import type { Loaded } from '../api/load.ts';
import { Icon } from './icon.tsx';
import './states.css';

export function Loading({ what }: { what: string }) {
  return (
    <div class="state loading" role="status">
      <span class="bar" aria-hidden="true" />
      <span class="hidden">Loading {what}</span>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state empty">
      <p class="state-title">{title}</p>
      {children && <div class="soft">{children}</div>}
    </div>
  );
}

export function Problem({ error, retry }: { error: ApiError; retry?(): void }) {
  return (
    <div class="state problem" role="alert">
      <p class="state-title">
        <Icon name="warning" /> {error.message}
      </p>
      {error.path && (
        <p>
          at <code>{error.path}</code>
        </p>
      )}
      {error.hint && <p class="soft">{error.hint}</p>}
      <p class="soft">
        <code>{error.code}</code>
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

type ShowProps<T> = { of: Loaded<T>; what: string; children(data: T): ComponentChildren };

/** Renders loaded data, or its loading or error state. Data of an earlier load stays visible under an error. */
export function Show<T>({ of, what, children }: ShowProps<T>) {
  return (
    <>
      {of.error && <Problem error={of.error} retry={of.reload} />}
      {of.data === undefined && of.loading && !of.error && <Loading what={what} />}
      {of.data !== undefined && children(of.data)}
    </>
  );
}
