/** Light or dark as the reader's system is. */
export const docsColours = `
:root { color-scheme: light dark; --ink: #1c2530; --soft: #5d6b7a; --line: #e3e8ee; --paper: #ffffff; --side: #f6f8fa; --accent: #0b6e5c;
  --code: #10202b; --code-ink: #d7e3ea; --code-name: #8fd3c1; --code-text: #f0c987;
  --get: #1f6feb; --post: #0b7a4b; --delete: #b3382c; --bad: #b3382c; --good: #0b7a4b; --warn: #8a6100; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe7ee; --soft: #93a1af; --line: #26323d; --paper: #10171e; --side: #0b1117; --accent: #5cc9b1;
    --code: #080d12; --get: #58a6ff; --post: #3fb97f; --delete: #f0796d; --bad: #f0796d; --good: #3fb97f; --warn: #d9a94a; } }
`;

/** The look of /docs. */
export const docsStyle = `
${docsColours}* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); color: var(--ink); background: var(--paper);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
code, pre, .method, .status { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
a { color: inherit; text-decoration: none; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.75rem 1.25rem; background: var(--side);
  border-right: 1px solid var(--line); font-size: 0.86rem; }
nav .brand { display: block; font-weight: 650; font-size: 1.05rem; margin-bottom: 1rem; }
nav h2 { margin: 1.5rem 0 0.4rem; font-size: 0.72rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); }
nav > a:not(.brand) { display: flex; gap: 0.6rem; align-items: baseline; padding: 0.25rem 0.5rem; margin: 0 -0.5rem; border-radius: 6px; }
nav > a:not(.brand):hover { background: var(--line); }
nav a span:last-child { overflow-wrap: anywhere; }
nav .method { width: 3.4rem; flex: none; padding: 0; background: none; font-size: 0.68rem; }
nav .roles, nav .foot { color: var(--soft); }
nav .roles b { color: var(--ink); }
nav .roles a, nav .foot a { text-decoration: underline; text-underline-offset: 2px; }
main { padding: 2.5rem clamp(1.25rem, 4vw, 4rem) 6rem; max-width: 92rem; }
header h1 { margin: 0 0 0.4rem; font-size: 1.9rem; letter-spacing: -0.02em; }
header p { margin: 0; max-width: 46rem; color: var(--soft); font-size: 1.02rem; }
section { padding: 2.25rem 0 0.5rem; margin-top: 2.25rem; border-top: 1px solid var(--line); }
section h2 { display: flex; gap: 0.75rem; align-items: center; margin: 0; font-size: 1.18rem; font-weight: 620; }
section h2 code { font-weight: 560; overflow-wrap: anywhere; }
section h3 { margin: 1.6rem 0 0.3rem; font-size: 0.95rem; }
section h4 { margin: 1rem 0 0.4rem; font-size: 0.72rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); font-weight: 600; }
.summary { margin: 0.5rem 0 0; font-size: 1.02rem; }
.columns { display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); gap: 2.5rem; align-items: start; }
.columns > div:last-child { position: sticky; top: 1rem; }
.method { padding: 0.12rem 0.5rem; border-radius: 5px; font-size: 0.74rem; font-weight: 700; letter-spacing: 0.02em; color: var(--post);
  background: color-mix(in srgb, currentColor 12%, transparent); }
.method.get { color: var(--get); } .method.delete { color: var(--delete); }
nav .method.get, nav .method.post, nav .method.delete { background: none; }
ul { list-style: none; margin: 0; padding: 0; }
.members > li { padding: 0.45rem 0; border-bottom: 1px solid var(--line); }
.members > li:last-child { border-bottom: 0; }
.members .members { margin: 0.45rem 0 0 0.35rem; padding-left: 0.95rem; border-left: 2px solid var(--line); }
.members p { margin: 0.1rem 0 0; color: var(--soft); font-size: 0.88rem; }
.name { font-weight: 620; font-size: 0.88rem; }
.type { color: var(--soft); font-size: 0.83rem; margin-left: 0.3rem; }
.required { color: var(--bad); font-size: 0.74rem; margin-left: 0.3rem; }
.rule { font-size: 0.76rem; color: var(--soft); padding: 0.04rem 0.4rem; margin-left: 0.25rem; border: 1px solid var(--line); border-radius: 9px; }
summary { cursor: pointer; list-style: none; position: relative; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "›"; position: absolute; left: -0.85rem; color: var(--soft); transition: transform 0.12s; }
details[open] > summary::before { transform: rotate(90deg); }
.answers li { padding: 0.35rem 0; font-size: 0.9rem; color: var(--soft); padding-left: 3.1rem; }
.answers summary::before { left: -4rem; }
.answers code { font-size: 0.8rem; color: var(--ink); }
.status { display: inline-block; width: 2.6rem; margin-left: -3.1rem; margin-right: 0.2rem; font-weight: 700; font-size: 0.82rem; color: var(--warn); }
.status.s2 { color: var(--good); } .status.s5 { color: var(--bad); }
.answers .members { margin-left: -2rem; }
.follows { font-size: 0.9rem; color: var(--soft); }
p > code { font-size: 0.88em; padding: 0.06em 0.3em; border-radius: 4px; background: var(--side); border: 1px solid var(--line); }
pre { scrollbar-width: thin; scrollbar-color: var(--soft) transparent; margin: 0; padding: 0.9rem 1.1rem; overflow: auto; max-height: 34rem; border-radius: 10px; background: var(--code); color: var(--code-ink);
  font-size: 0.77rem; line-height: 1.5; tab-size: 2; }
pre.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
pre b { font-weight: 500; color: var(--code-name); } pre i { font-style: normal; color: var(--code-text); }
@media (max-width: 75rem) { .columns { grid-template-columns: minmax(0, 1fr); gap: 1rem; } .columns > div:last-child { position: static; } }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } body { display: block; } }
`;
