import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasCode } from '../../error-code.ts';
import { describeServer } from '../../storage/connection.ts';
import { CommandError } from '../command.ts';

// pg_dump and pg_restore support every type, sequence and constraint, and operators have trusted them for decades.

const execute = promisify(execFile);

/** Tables that every process fills again, or whose content is valid only on the server that wrote it, such as transaction ids. */
const withoutData = ['discovery.change', 'discovery.index_process'];

export async function dumpDatabase(url: string, file: string, form = ['--format=custom']): Promise<void> {
  const excluded = withoutData.map((table) => `--exclude-table-data=${table}`);
  await run('pg_dump', [...form, '--no-owner', '--no-privileges', ...excluded, `--file=${file}`], url);
}

/** Restores everything or nothing. */
export async function restoreDatabase(url: string, file: string): Promise<void> {
  const options = ['--no-owner', '--no-privileges', '--single-transaction', '--exit-on-error'];
  await run('pg_restore', [...options, file], url);
}

async function run(program: string, args: readonly string[], url: string): Promise<void> {
  const secrets = await mkdtemp(join(tmpdir(), 'signpost-'));
  try {
    const address = await hidePassword(url, join(secrets, 'password'));
    await execute(program, [...args, `--dbname=${address}`], { maxBuffer: maxSaidBytes });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw new CommandError(`${program} ${notFound}`, error);
    const { stderr = '' } = error as { stderr?: string };
    const said = stderr.slice(-shownCharacters).trim();
    throw new CommandError(`${program} failed on ${describeServer(url)}: ${said}`, error);
  } finally {
    await rm(secrets, { recursive: true, force: true });
  }
}

/** Arguments are visible to anyone who lists processes, so the password goes into a private file, which libpq reads. */
async function hidePassword(url: string, file: string): Promise<string> {
  const address = new URL(url);
  if (address.password === '') return url;
  const password = decodeURIComponent(address.password).replace(/[\\:]/g, '\\$&');
  await writeFile(file, `*:*:*:*:${password}\n`, { mode: 0o600 });
  address.password = '';
  address.searchParams.set('passfile', file);
  return address.href;
}

const notFound =
  "is not in the PATH. It comes with PostgreSQL's client programs (Debian: postgresql-client), and must be of the server's version or later. With --no-database it is not needed.";

const shownCharacters = 2_000;
/** A program that prints more than this is ended. */
const maxSaidBytes = 16 * 1024 * 1024;
