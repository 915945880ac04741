import { readdirSync, readFileSync } from 'node:fs';

/**
 * Starts to count the processor time, in milliseconds, of this process and some others, with all their threads. Without /proc, of this process only.
 * Processes that end meanwhile do not count.
 */
export function countProcessorMs(pids) {
  const began = process.cpuUsage();
  const before = pids.map(processorMsOf);
  return () => {
    const { user, system } = process.cpuUsage(began);
    const taken = pids.map((pid, index) => Math.max(0, processorMsOf(pid) - before[index]));
    return taken.reduce((sum, ms) => sum + ms, (user + system) / 1_000);
  };
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
