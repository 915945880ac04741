import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { patienceMs } from '../patience.ts';
import { freePorts, makeDataDir, type UpProcess } from './up-process.ts';

/** What the person who started Signpost on this machine knows. */
export interface StartedConsole {
  /** The page of the console. */
  url: string;
  dataDir: string;
  settings: Record<string, string>;
  /** The operator token, made by the first start. */
  token: string;
}

/** Every role in a separate process, on free ports with an empty DATA_DIR. */
export async function startConsoleProcess(
  start: (dataDir: string, settings: Record<string, string>) => UpProcess,
  chosen: Record<string, string> = {},
): Promise<{ started: StartedConsole; close(): Promise<void> }> {
  const { dataDir, remove } = await makeDataDir();
  // As in a start without settings, the roles themselves serve /docs.
  const settings: Record<string, string> = { ...(await freePorts()), OPERATIONS_PORT: '', ...chosen };
  const signpost = start(dataDir, settings);
  const close = async () => {
    signpost.signal('SIGTERM');
    await signpost.ended;
    await remove();
  };
  try {
    await signpost.saying('Signpost is up', patienceMs);
    const token = (await readFile(join(dataDir, 'operator-token'), 'utf8')).trim();
    return { started: { url: `http://127.0.0.1:${settings.CONSOLE_PORT}`, dataDir, settings, token }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
