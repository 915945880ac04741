import { signal } from '@preact/signals';
import { pathWith, type Query } from './api/client.ts';

/** Hash routes, `#/find?text=charger`: a link reproduces the view, and the server need not know the pages. */
export const pageNames = ['find', 'inspect', 'publish', 'debug', 'network', 'health'] as const;
export type PageName = (typeof pageNames)[number];

export interface Route {
  page: PageName;
  params: URLSearchParams;
}

export const route = signal<Route>(readHash());

addEventListener('hashchange', () => {
  route.value = readHash();
});

export function hrefTo(page: PageName, params: Query = {}): string {
  return pathWith(`#/${page}`, params);
}

export function navigate(page: PageName, params: Query = {}): void {
  location.hash = hrefTo(page, params);
}

/** The address of a guide in docs/, which the console serves. */
export function guideUrl(file: string): string {
  return `guides/${file}`;
}

/** Changes the address without a history entry, while the user types or draws. */
export function replaceParams(page: PageName, params: Query): void {
  const href = hrefTo(page, params);
  if (href === location.hash) return;
  history.replaceState(null, '', href);
  route.value = readHash();
}

export function param(name: string): string {
  return route.value.params.get(name) ?? '';
}

function readHash(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const page = pageNames.find((name) => name === path) ?? 'find';
  return { page, params: new URLSearchParams(query) };
}
