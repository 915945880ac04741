/** How long a test waits for what will happen soon. A test may take 60 s in all, on a machine that is busy with other work. */
export const patienceMs = 50_000;
