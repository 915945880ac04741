import { register } from 'node:module';

// With node --import, lets the conformance suite run on Node 20: the suite imports `globSync` of `fs`, which exists since Node 22, but calls it only
// for clients.

const withGlob = "export * from 'node:fs'; export const globSync = () => [];";
const hooks = `
export async function resolve(specifier, context, next) {
  if (specifier !== 'fs' || !context.parentURL?.includes('/conformance/')) return next(specifier, context);
  return { url: 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(withGlob)}), shortCircuit: true };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
