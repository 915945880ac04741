import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { it } from 'vitest';

it('The files of docs/api are those that scripts/api-files.mjs makes of what is built', async () => {
  await promisify(execFile)(process.execPath, ['scripts/api-files.mjs', '--check']);
});
