import { within } from './within.ts';

type Closers = (() => Promise<void>)[];

/** Longer than servers, loops and workers take to finish, and shorter than the limits of service managers (deploy/). */
const closeWithinMs = 22_000;
/** The embedded server must write its memory to disk. A server that did not answer before only gets the signal to stop. */
const serverStopMs = 90_000;
const silentServerStopMs = 3_000;

/** Closes in the reverse order of opening, the embedded server last, even after failures; then throws the first failure. */
export async function closeBoth(closers: Closers, serverClosers: Closers): Promise<void> {
  const failures: unknown[] = [];
  const note = (error: unknown) => void failures.push(error);
  await closeWithin(closeWithinMs, closers).catch(note);
  const isSilent = failures.some((failure) => failure instanceof NotEnded);
  await closeWithin(isSilent ? silentServerStopMs : serverStopMs, serverClosers).catch(note);
  if (failures.length > 0) throw failures[0];
}

class NotEnded extends Error {}

function closeWithin(ms: number, closers: Closers): Promise<void> {
  const late = () => new NotEnded(`not everything had ended after ${ms / 1_000} s.`);
  return within(ms, closeAll(closers), late);
}

async function closeAll(closers: Closers): Promise<void> {
  const failures: unknown[] = [];
  for (const closer of closers.splice(0).reverse())
    await closer().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** If a start fails, closes the parts that it opened. The failed start is reported, not a failure to close. */
export async function startOrClose<T>(start: () => Promise<T>, close: () => Promise<void>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}
