/** How long a test waits for something that will happen soon. A test may take 60 s in total, on a machine that is busy with other work. */
export const patienceMs = 50_000;
