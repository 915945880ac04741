import { writeSync } from 'node:fs';

const standardError = 2;

export function load(url, context, next) {
  writeSync(standardError, `loaded ${url}\n`);
  return next(url, context);
}
