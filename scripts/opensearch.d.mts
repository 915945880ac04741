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

/** Installs the security plugin into nodes. */
export interface Security {
  /** Lines of opensearch.yml. */
  settings: string[];
  /** Writes the files of a node before it starts: its plugins are in `home/plugins`. */
  install(node: { classPath: string; home: string; settings: string }): void;
  isReady(url: string): Promise<boolean>;
}

/** Unpacks the security plugin, without the libraries of the class path. */
export function unpackSecurityPlugin(folder: string, classPath: string): void;

/** Resolves when all nodes have joined. `heapMb` is that of each. A `brief` one starts with less work, and is slow in the long run. */
export function startOpenSearch(options?: {
  heapMb?: number;
  nodes?: number;
  brief?: boolean;
  security?: Security;
}): Promise<RunningOpenSearch>;
