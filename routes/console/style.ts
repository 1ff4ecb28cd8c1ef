export const STYLE_PATH = '/dashboard/style.css';

export const STYLE = `
:root { color-scheme: light dark; --line: #d0d7de; --quiet: #57606a; --box: #f6f8fa; --accent: #0757b8; --danger: #b3261e; --on: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a4149; --quiet: #9aa4af; --box: #1c2128; --accent: #79b8ff; --danger: #ff8a80; --on: #10141a; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .75rem; }
code, .key { font-family: ui-monospace, monospace; font-size: .9em; }
.quiet { color: var(--quiet); }
.box { background: var(--box); border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: 6px; padding: .75rem 1rem; }
.box p { margin: 0 0 .5rem; }
.error { border-left-color: var(--danger); }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
input { font: inherit; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 6px; max-width: 100%; }
#name { flex: 1 1 18rem; }
.key { width: 100%; }
button { font: inherit; padding: .4rem .9rem; border: 1px solid transparent; border-radius: 6px; background: var(--accent); color: var(--on); cursor: pointer; }
button.danger { background: var(--danger); margin-top: .5rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
thead th { color: var(--quiet); font-size: .875rem; }
tbody th { font-weight: 600; overflow-wrap: anywhere; }
time, summary, button { white-space: nowrap; }
summary { cursor: pointer; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 36rem) { td:nth-child(2), thead th:nth-child(2) { display: none; } time { white-space: normal; } }
`;
