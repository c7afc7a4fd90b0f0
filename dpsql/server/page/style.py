"""How the owner's page looks: light or dark as its reader has it, from a telephone's width on.

Tests: tests/unit/server/page.
"""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = (
    """\
:root { color-scheme: light dark; --ground: #fbfaf7; --card: #ffffff; --ink: #1d2125; --quiet: #5a636b; --rule: #dcdfe2;
  --good: #1f6f54; --warn: #8a5a00; --bad: #a3262a; --c0: #1d2125; --c1: #1b62b8; --c2: #b3501b; --c3: #1f6f54;
  --c4: #8a3b9a; --c5: #8f6a00; --c6: #0b7285; --c7: #a3262a }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1d2125; --ink: #e8eaec; --quiet: #a3acb4;
  --rule: #363d44; --good: #6fd1ab; --warn: #f0bf60; --bad: #ff8f8f; --c0: #e8eaec; --c1: #7db7ff; --c2: #ffab7a;
  --c3: #6fd1ab; --c4: #d99be8; --c5: #e6c75a; --c6: #66d0e4; --c7: #ff8f8f } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main, header, footer { max-width: 68rem; margin: 0 auto; padding: 0 1rem }
header { padding-top: 2rem } footer { padding-bottom: 3rem; color: var(--quiet) }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 } h2 { font-size: 1.15rem; margin: 0 0 .6rem }
section { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; padding: 1rem 1.1rem;
  margin: 1rem 0 }
a { color: var(--c1) } :focus-visible { outline: 3px solid var(--c1); outline-offset: 2px }
.quiet { color: var(--quiet) } .bad { color: var(--bad) } .warn { color: var(--warn) } .good { color: var(--good) }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
table { width: 100%; border-collapse: collapse; font-size: .93rem }
th { text-align: left; font-weight: 600; color: var(--quiet); border-bottom: 2px solid var(--rule) }
th, td { padding: .4rem .6rem .4rem 0; vertical-align: top } td { border-bottom: 1px solid var(--rule) }
tr:last-child td { border-bottom: 0 }
code { font: .85rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap }
.bar { display: block; min-width: 7rem; height: .55rem; border-radius: .3rem; background: var(--rule);
  overflow: hidden }
.bar svg { display: block; width: 100%; height: 100% } .bar rect { fill: currentColor }
figure { margin: 0 } figure svg { width: 100%; height: auto; display: block }
svg text { fill: var(--quiet); font-size: 12px } svg text.y { text-anchor: end; dominant-baseline: middle }
svg text.end { text-anchor: end } .grid { stroke: var(--rule) } .alert { stroke: var(--rule); stroke-dasharray: 4 5 }
.step { fill: none; stroke-width: 2.2; stroke-linejoin: round }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: .4rem 0 0; padding: 0 }
.key { display: inline-block; width: 1.2rem; height: .25rem; margin-right: .4rem; vertical-align: middle }
"""
    + "".join(
        f".step.c{place} {{ stroke: var(--c{place}); stroke-dasharray: {'7 3' if place % 2 else 'none'} }} "
        f".key.c{place} {{ background: var(--c{place}) }}\n"
        for place in range(8)
    )
    + """\
button { font: inherit; padding: .35rem .9rem; border-radius: .4rem; border: 1px solid var(--good); color: var(--good);
  background: transparent; cursor: pointer } button:hover { background: var(--good); color: var(--card) }
input { font: inherit; padding: .4rem .6rem; width: 100%; max-width: 34rem; border: 1px solid var(--quiet);
  border-radius: .4rem; background: var(--ground); color: var(--ink) } label { display: block; margin-bottom: .3rem }
@media (max-width: 40rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  table, tbody, tr, td { display: block; width: 100% } td { border: 0; padding: .1rem 0 }
  tr { border-bottom: 1px solid var(--rule); padding: .5rem 0 } tr:last-child { border: 0 }
  td::before { content: attr(data-label); display: block; color: var(--quiet); font-size: .8rem }
  td:empty { display: none } }
@media print { section { break-inside: avoid } button, form { display: none } }
"""
)
"""CSS of the page: its colours, sizes in rem and widths are a choice, with contrasts of 4.5 and more."""
