/** Lets nobody pass until it is opened: a test decides when something goes on, not the speed of the machine. */
export interface Gate {
  open(): void;
  passed: Promise<void>;
}

export function gate(): Gate {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), passed };
}
