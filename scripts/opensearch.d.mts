/** What keeps it from starting here, in words; undefined where nothing does. */
export function findObstacle(): string | undefined;

export interface RunningOpenSearch {
  url: string;
  urls: string[];
  close(): Promise<void>;
}

/** Resolves when all nodes have joined. `heapMb` is that of the whole process. */
export function startOpenSearch(options?: { heapMb?: number; nodes?: number }): Promise<RunningOpenSearch>;
