// The shared page of a view, without scripts: each tile, tab, row and range is a link to the same page with other
// parameters. It says nothing of destinations and of what people wrote.

import { html } from 'hono/html'
import { type Html, type PageExtras, renderHtmlPage } from '../../../http/html-page.ts'
import { writeFilter } from '../../../storage/filter-grammar.ts'
import { createBucketFormatter, formatFigure, shareBar, timelineChart } from '../chart.ts'
import { DIMENSIONS, type Dimension, formatValue } from '../dimensions.ts'
import { FIGURE_LABELS, FIGURE_METRICS } from '../figure-metrics.ts'
import type { SharedAnswer, SharedCard } from './answer-share.ts'

export const STATS_STYLE = `
.tiles { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0 } .tiles > * { flex: 1 1 7rem; padding: .625rem .875rem; border: 1px solid var(--line); border-radius: .5rem; text-decoration: none; color: var(--soft) }
.tiles b { display: block; color: var(--ink); font-size: 1.375rem; font-variant-numeric: tabular-nums } .tiles [aria-current] { border-color: var(--go) }
.chart { display: block; width: 100%; height: 10rem; border-bottom: 1px solid var(--line) } .bar { fill: var(--go) } .space { fill: transparent } g:hover .bar { opacity: .7 }
.ends { display: flex; justify-content: space-between; gap: 1rem; margin: .25rem 0 1rem; font-size: .8125rem; color: var(--soft) }
h2 { margin: 0; font-size: 1rem } .rows { list-style: none; padding: 0 } .rows li { padding: .375rem 0 }
.rows .row { display: flex; justify-content: space-between; gap: 1rem; color: var(--ink); text-decoration: none } .rows a.row:hover span { text-decoration: underline }
.rows .row b { flex: none; font-weight: 500; font-variant-numeric: tabular-nums } .rows .row span { min-width: 0 } .share { display: block; width: 100%; height: 3px; margin-top: .25rem }
`

const PAGE_STYLE = `${STATS_STYLE}
body { place-items: start center; align-content: start } main { max-width: 64rem; padding: 1.25rem } .brand, footer { max-width: 64rem }
nav.line { display: flex; flex-wrap: wrap; gap: .25rem .75rem; margin: 0 0 .75rem; font-size: .9375rem } nav.line [aria-current] { font-weight: 600; color: var(--ink); text-decoration: none }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem } .cards section { min-width: 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem }
.chip { padding: 0 .5rem; border: 1px solid var(--line); border-radius: .5rem; text-decoration: none; color: var(--ink) }
table { border-collapse: collapse; font-size: .875rem } td, th { padding: .25rem .75rem .25rem 0; text-align: left } details { margin: 0 0 1rem } .proof { margin: 1rem 0 0; font-size: .875rem }
`

const INTERVAL_NAMES: Record<string, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  '1y': '1 year',
  mtd: 'This month',
  ytd: 'This year',
}

export const sharedPage = (answer: SharedAnswer, extras: PageExtras) =>
  renderHtmlPage(200, answer.name, toContent(answer), {}, { ...extras, style: PAGE_STYLE })

type Changes = Record<string, string | string[] | undefined>

/** The address of the page with other parameters. An undefined parameter goes. */
function createAddress({ asked, metric, tabs }: SharedAnswer) {
  return (changes: Changes): string => {
    const query = new URLSearchParams()
    const parameters: Changes = {
      ...asked.filters,
      ...asked.range,
      metric: metric === 'clicks' ? undefined : metric,
      tabs: tabs.join(',') || undefined,
      ...changes,
    }
    for (const [name, value] of Object.entries(parameters))
      for (const each of value === undefined ? [] : [value].flat()) query.append(name, each)
    return `?${query}`
  }
}

function toContent(answer: SharedAnswer): Html {
  const { name, totals, timezone, metric, time, cards, proof } = answer
  const toAddress = createAddress(answer)
  const day = new Intl.DateTimeFormat('en', { timeZone: timezone, dateStyle: 'medium' })
  const formatBucket = createBucketFormatter(time, timezone)
  const bars = time.map(({ at, count }) => ({ count, title: `${formatBucket(at)}: ${formatFigure(count)}` }))
  const [first, last] = [time[0], time.at(-1)]
  return html`<h1>${name}</h1>
<p>${day.format(totals.start)} – ${day.format(totals.end - 1)} · ${timezone}</p>
${toRanges(answer, toAddress)}${toChips(answer, toAddress)}
<nav class="tiles" aria-label="Figures">${FIGURE_METRICS.map((each) => {
    const count = totals[each]
    if (count === null) return ''
    const current = each === metric ? html` aria-current="true"` : ''
    const href = toAddress({ metric: each === 'clicks' ? undefined : each })
    return html`<a href="${href}"${current}>${FIGURE_LABELS[each]} <b>${formatFigure(count)}</b></a>`
  })}</nav>
${timelineChart(bars, `${FIGURE_LABELS[metric]} over time`)}
${first && last ? html`<p class="ends"><span>${formatBucket(first.at)}</span><span>${formatBucket(last.at)}</span></p>` : html`<p>No clicks match these filters.</p>`}
<details><summary>Figures as a table</summary><table><tr><th>Time</th><th>${FIGURE_LABELS[metric]}</th></tr>${time.map(({ at, count }) => html`<tr><td>${formatBucket(at)}</td><td>${formatFigure(count)}</td></tr>`)}</table></details>
<div class="cards">${cards.map((card) => toCard(card, answer, toAddress))}</div>
${proof === null ? '' : toProof(proof)}`
}

const utcDay = new Intl.DateTimeFormat('en', { timeZone: 'UTC', dateStyle: 'medium' })

const toProof = ({ day, hash }: NonNullable<SharedAnswer['proof']>) =>
  html`<details class="proof"><summary>Days up to ${utcDay.format(Date.parse(day))} (UTC) are closed. How to verify them</summary>
<p>Newest hash: <code>${hash}</code></p>
<p>It covers all figures of the workspace on all closed days. Keep it. If a closed day is edited later, the hash no longer fits. To compare, ask the people who share this page for their list of hashes, or the operator of the server to recompute all days with <code>towpath verify</code>.</p></details>`

function toRanges({ intervals, asked }: SharedAnswer, toAddress: (changes: Changes) => string) {
  if (intervals.length === 0) return ''
  const clear = { interval: undefined, start: undefined, end: undefined }
  const isWhole = Object.keys(clear).every((name) => !(name in asked.range))
  const link = (text: string, changes: Changes, isCurrent: boolean) =>
    html`<a href="${toAddress({ ...clear, ...changes })}"${isCurrent ? html` aria-current="true"` : ''}>${text}</a> `
  return html`<nav class="line" aria-label="Period">${intervals.map((each) =>
    link(INTERVAL_NAMES[each] ?? each, { interval: each }, asked.range.interval === each),
  )}${link('Whole period', {}, isWhole)}</nav>`
}

function toChips({ asked: { filters } }: SharedAnswer, toAddress: (changes: Changes) => string) {
  const entries = Object.entries(filters)
  if (entries.length === 0) return ''
  return html`<nav class="line" aria-label="Filters">${entries.map(([name, value]) => {
    const label = DIMENSIONS[name as Dimension] ?? name
    const text = [value].flat().map((each) => formatValue(name as Dimension, each))
    return html`<a class="chip" href="${toAddress({ [name]: undefined })}" aria-label="Remove the filter ${label}">${label}: ${text.join(', ')} ×</a> `
  })}</nav>`
}

function toCard(
  { title, dimensions, dimension, rows }: SharedCard,
  answer: SharedAnswer,
  toAddress: (changes: Changes) => string,
) {
  const others = answer.tabs.filter((each) => !dimensions.includes(each))
  const tabs = dimensions.map((each) => {
    const chosen = each === dimensions[0] ? others : [...others, each]
    const current = each === dimension ? html` aria-current="true"` : ''
    return html`<a href="${toAddress({ tabs: chosen.join(',') || undefined })}"${current}>${DIMENSIONS[each]}</a> `
  })
  return html`<section><h2>${title}</h2>
<nav class="line" aria-label="${title} by">${tabs}</nav>
${rows.length === 0 ? html`<p>Nothing yet</p>` : toRows(rows, (value) => toAddress({ [dimension]: writeFilter({ texts: [value], negate: false }) }))}</section>
`
}

/** @param toHref absent where a row leads nowhere */
export function toRows(
  rows: { value: string; label: string; count: number }[],
  toHref?: (value: string) => string,
) {
  const most = Math.max(1, ...rows.map(({ count }) => count))
  return html`<ol class="rows">${rows.map(({ value, label, count }) => {
    const text = html`<span>${label}</span><b>${formatFigure(count)}</b>`
    const row = toHref
      ? html`<a class="row" href="${toHref(value)}">${text}</a>`
      : html`<div class="row">${text}</div>`
    return html`<li>${row}${shareBar(count / most)}</li>`
  })}</ol>`
}
