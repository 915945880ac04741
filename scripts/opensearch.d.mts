/** The reason why it cannot start here, in words; undefined if it can. */
export function findObstacle(): string | undefined;

export interface RunningOpenSearch {
  /** Address of the first node. */
  url: string;
  urls: string[];
  nodes: OpenSearchNode[];
  close(): Promise<void>;
}

export interface OpenSearchNode {
  url: string;
  /** Id of the process that has started Java. */
  processId(): number;
  /** Again, with the data of before; resolves when it has joined the others. */
  start(): Promise<void>;
  /** kill -9; its data stay. */
  kill(): Promise<void>;
}

/** Resolves when all nodes have joined. `heapMb` is that of each. A `brief` one starts with less work, and is slow in the long run. */
export function startOpenSearch(options?: {
  heapMb?: number;
  nodes?: number;
  brief?: boolean;
}): Promise<RunningOpenSearch>;
