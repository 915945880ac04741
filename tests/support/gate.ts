/** Blocks everybody until it is opened, so that the test, not the speed of the machine, decides when something continues. */
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
