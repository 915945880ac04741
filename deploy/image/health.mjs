// Exit codes: 0 if the process answers at OPERATIONS_PORT, otherwise 1. If OPERATIONS_PORT is 0, HEALTH_PORT must name the port.
const port = process.env.HEALTH_PORT || process.env.OPERATIONS_PORT || '4006';
const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(4_000) }).catch(
  (error) => ({ ok: false, status: error.cause?.code ?? error.message }),
);
if (!answer.ok) {
  console.error(`no health at port ${port}: ${answer.status}`);
  process.exitCode = 1;
}
