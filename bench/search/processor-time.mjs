import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of processor time that this process and some others took so far, with all their threads. Where the system has no /proc, those of this process. */
export function processorMs(pids) {
  const { user, system } = process.cpuUsage();
  return pids.reduce((sum, pid) => sum + processorMsOf(pid), (user + system) / 1_000);
}

function processorMsOf(pid) {
  return read(() => readdirSync(`/proc/${pid}/task`), []).reduce((sum, thread) => {
    // Nanoseconds on a processor, nanoseconds of waiting for one, and how often.
    const [ran] = read(() => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), '0').split(' ');
    return sum + Number(ran) / 1e6;
  }, 0);
}

/** A thread or a process may have ended meanwhile. */
function read(file, otherwise) {
  try {
    return file();
  } catch {
    return otherwise;
  }
}
