/** How long a test waits for what will happen soon: a loaded machine takes many times what a quiet one does, and must not fail by that. */
export const patienceMs = 150_000;
