import { spawnSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';

// PostgreSQL refuses to run as root, so a root process runs it as another existing user.

export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/** Best first; after them any other user. */
const preferredNames = ['signpost', 'postgres', '_postgres', 'nobody'];

/** The user to run the server as: undefined means our own. The owner of an existing data directory decides. */
export async function findServerUser(dataDirectory: string | undefined): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = parsePasswd(await readFile('/etc/passwd', 'utf8').catch(() => ''));
  const owner = dataDirectory && (await stat(dataDirectory).catch(() => undefined));
  if (owner && owner.uid !== 0) {
    const { uid, gid } = owner;
    return users.find((user) => user.uid === uid) ?? { name: `${uid}`, uid, gid };
  }
  const [user = users[0]] = preferredNames.flatMap((name) => users.find((each) => each.name === name) ?? []);
  if (user) return user;
  throw new Error(
    'PostgreSQL does not run as root, and this system has no other user: start signpost as an ordinary user, or set DATABASE_URL.',
  );
}

/** Options that run a child process as that user, without our environment and in a directory that anyone may enter. */
export function runAs(user: ServerUser | undefined) {
  const env: Record<string, string> = { LC_ALL: 'C' };
  return { ...(user && { uid: user.uid, gid: user.gid }), cwd: '/', env };
}

/** Whether the user may enter a directory: only the system knows all of its rules. */
export function canEnter(user: ServerUser | undefined, directory: string): boolean {
  if (user === undefined) return true;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], runAs(user)).status === 0;
}

export function parsePasswd(text: string): ServerUser[] {
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid = '', gid = '']) => ({ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }))
    .filter(({ name, uid }) => name !== '' && !name.startsWith('#') && uid !== 0);
}
